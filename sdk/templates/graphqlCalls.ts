import * as z from "zod";
import { LIST_CAP } from "../contract/limits";
import type { RecordCalls } from "../records/collection";
import { readAliases, readMyself, remove, save } from "../records/graphqlCalls";
import { type RecordKind, readRecords } from "../records/listed";
import { type OutputOnlyField, recordSchema, selectionOf, toInput } from "../records/wireFormat";
import { EnumValue, type GraphqlTransport, type Literal } from "../transport/graphql";
import type { Attempt } from "../transport/retryingCall";
import { TEMPLATE_FIELDS } from "./fields";
import type { Template, TemplateSettings } from "./record";

/** The requests for templates, each of which sends one request, once. */
export interface TemplateCalls extends RecordCalls<Template, TemplateSettings> {
  /** Reads the containers of endpoints, as templates with the endpoints' ids. @default endpoints have those of their templates */
  readonly containersOfEndpoints?: RecordCalls<Template, TemplateSettings>["list"];
}

const flag = z
  .boolean()
  .nullish()
  .transform((value) => value ?? false);
const anything = z.unknown().transform((value) => value ?? undefined);

const OUTPUT_ONLY_FIELDS: Readonly<Record<string, OutputOnlyField>> = {
  id: { selection: "id", schema: z.string().min(1) },
  isServerless: { selection: "isServerless", schema: flag },
  isPublic: { selection: "isPublic", schema: flag },
};

/** The fields of the service that the client does not manage, and must send as they are: a save may reset what is left out. */
const KEPT_FIELDS: Readonly<Record<string, string>> = {
  volumeInGb: "volumeInGb",
  volumeMountPath: "volumeMountPath",
  portsConfig: "portsConfig { name port }",
  startSsh: "startSsh",
  startJupyter: "startJupyter",
  startScript: "startScript",
  advancedStart: "advancedStart",
  category: "category",
};

/** The fields that a new template gets for endpoints. */
const NEW_SERVERLESS_TEMPLATE = {
  isServerless: true,
  isPublic: false,
  volumeInGb: 0,
  startSsh: false,
  startJupyter: false,
};

const envSchema = z
  .array(z.looseObject({ key: z.string(), value: z.string().nullable() }))
  .nullish()
  .transform((list) => Object.fromEntries((list ?? []).map(({ key, value }) => [key, value ?? ""])));

const kept = Object.fromEntries(
  Object.entries(KEPT_FIELDS).map(([field, selection]) => [field, { selection, schema: anything }]),
);

const wireSchema = recordSchema<Omit<Template, "kept"> & Record<string, unknown>>(
  TEMPLATE_FIELDS,
  { ...OUTPUT_ONLY_FIELDS, ...kept },
  { env: envSchema, ports: portsOf() },
);

const templateSchema: z.ZodType<Template> = wireSchema.transform((record) => {
  const fields = Object.keys(KEPT_FIELDS).filter((field) => record[field] !== undefined);
  const keptFields = Object.fromEntries(fields.map((field) => [field, record[field] as Literal]));
  const own = Object.entries(record).filter(([field]) => !Object.hasOwn(KEPT_FIELDS, field));
  return { ...(Object.fromEntries(own) as unknown as Omit<Template, "kept">), kept: keptFields };
});

const SELECTION = selectionOf(TEMPLATE_FIELDS, { ...OUTPUT_ONLY_FIELDS, ...kept });

/** Templates of endpoints and of pods share one list and one name space. */
export const TEMPLATE: RecordKind<Template> = {
  noun: "template",
  one: "a template",
  schema: templateSchema,
  hasUniqueNames: true,
};

/** Returns the requests over GraphQL. `saveTemplate` may reset what is left out, so everything is sent. */
export function graphqlTemplateCalls(transport: GraphqlTransport): TemplateCalls {
  const send = (operation: string, input: Literal, attempt: Attempt) =>
    save(transport, operation, { name: "saveTemplate", input, selection: SELECTION }, templateSchema, attempt);
  return {
    names: {
      list: "myself",
      read: "podTemplate",
      create: "saveTemplate",
      change: "saveTemplate",
      delete: "deleteTemplate",
    },
    async list(operation, attempt) {
      const myself = await readMyself(transport, operation, `podTemplates { ${SELECTION} }`, attempt);
      return readRecords(TEMPLATE, myself, "podTemplates", LIST_CAP);
    },
    readByIds: (operation, ids, attempt) =>
      readAliases(
        transport,
        TEMPLATE,
        operation,
        { name: "podTemplate", selection: SELECTION, of: "query" },
        ids,
        attempt,
      ),
    create: (operation, settings, attempt) =>
      send(operation, { ...toInput(TEMPLATE_FIELDS, { ...settings }), ...NEW_SERVERLESS_TEMPLATE }, attempt),
    change(operation, { id, isServerless, isPublic, kept: { category, ...others } }, settings, attempt) {
      const input = { id, ...others, isServerless, isPublic, ...toInput(TEMPLATE_FIELDS, { ...settings }) };
      const ofCategory = typeof category === "string" ? { category: new EnumValue(category) } : {};
      return send(operation, { ...input, ...ofCategory }, attempt);
    },
    // Only by name: the service has no deletion by id.
    delete: (operation, { name }, attempt) =>
      remove(transport, operation, "deleteTemplate", { templateName: name }, attempt),
  };
}

function portsOf(): z.ZodType {
  const normalize = TEMPLATE_FIELDS.ports?.normalize ?? ((same: unknown) => same);
  return z
    .string()
    .nullish()
    .transform((ports) => normalize(ports ?? ""));
}
