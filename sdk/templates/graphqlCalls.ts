import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import { GRAPHQL_TYPES } from "../containers/wireFormat";
import { LIST_CAP } from "../contract/limits";
import type { ReadTemplate } from "../endpoints/boundTemplate";
import type { RecordCalls } from "../records/calls";
import type { KeptTable } from "../records/fields";
import { byAliases, readAliases, readMyself, remove, save } from "../records/graphqlCalls";
import { createKeptFields, withKept } from "../records/keptFields";
import { type Kind, readRecords } from "../records/listed";
import { type OutputOnlyField, recordSchema, selectionOf, toInput } from "../records/wireFormat";
import type { GraphqlTransport, Literal } from "../transport/graphql";
import type { Attempt, CallContext } from "../transport/retryingCall";
import { TEMPLATE_FIELDS } from "./fields";
import type { Template, TemplateSettings } from "./record";

/** The requests for templates. Each is sent once. */
export interface TemplateCalls extends RecordCalls<Template, TemplateSettings> {
  /**
   * Reads the containers of endpoints, as templates with the endpoints' ids.
   * @default endpoints have those of their templates
   */
  readonly containersOfEndpoints?: RecordCalls<Template, TemplateSettings>["list"];
  /** Reads a template that may belong to an endpoint. @default endpoints have no such templates */
  readonly readBound?: ReadTemplate;
}

const flag = z
  .boolean()
  .nullish()
  .transform((value) => value ?? false);

export const OUTPUT_ONLY_FIELDS: Readonly<Record<string, OutputOnlyField>> = {
  id: { selection: "id", schema: z.string().min(1), v2: "id" },
  isServerless: { selection: "isServerless", schema: flag, v2: "serverless" },
  isPublic: { selection: "isPublic", schema: flag, v2: "public" },
};

const KEPT_FIELDS: KeptTable = {
  volumeInGb: {},
  volumeMountPath: {},
  portsConfig: { selection: "portsConfig { name port }" },
  startSsh: {},
  startJupyter: {},
  startScript: {},
  advancedStart: {},
  category: { isGraphqlEnum: true },
};

/** The fields that a new template gets for endpoints. */
const NEW_SERVERLESS_TEMPLATE = {
  isServerless: true,
  isPublic: false,
  volumeInGb: 0,
  startSsh: false,
  startJupyter: false,
};

const templateSchema = withKept<Template>(
  recordSchema(TEMPLATE_FIELDS, OUTPUT_ONLY_FIELDS, GRAPHQL_TYPES),
  KEPT_FIELDS,
);

/** Templates of endpoints and of pods share one list and one name space. */
export const TEMPLATE: Kind<Template> = {
  noun: "template",
  one: "a template",
  schema: templateSchema,
  hasUniqueNames: true,
};

/** The same with the endpoint that a template belongs to. */
const BOUND_TEMPLATE: Kind<Template> = {
  ...TEMPLATE,
  schema: withKept<Template>(recordSchema(TEMPLATE_FIELDS, OUTPUT_ONLY_FIELDS, GRAPHQL_TYPES), {
    ...KEPT_FIELDS,
    boundEndpointId: { isReadOnly: true },
  }),
};

/**
 * Returns the requests over GraphQL. `saveTemplate` may reset what is left out, so everything is
 * sent.
 */
export function graphqlTemplateCalls({ warn }: CallContext, transport: GraphqlTransport): TemplateCalls {
  const kept = createKeptFields(KEPT_FIELDS, "templates", warn);
  const selection = `${selectionOf(TEMPLATE_FIELDS, OUTPUT_ONLY_FIELDS)} ${kept.selection()}`;
  const send = (operation: string, input: Literal, attempt: Attempt) =>
    save(transport, operation, { name: "saveTemplate", input, selection }, templateSchema, attempt);
  const change: TemplateCalls["change"] = (operation, before, settings, attempt) => {
    const { id, isServerless, isPublic } = before;
    const fields = toInput(TEMPLATE_FIELDS, { ...settings });
    return send(operation, { id, ...kept.input(before.kept), isServerless, isPublic, ...fields }, attempt);
  };
  return {
    names: {
      list: "myself",
      read: "podTemplate",
      create: "saveTemplate",
      change: "saveTemplate",
      delete: "deleteTemplate",
    },
    async list(operation, attempt) {
      const myself = await readMyself(transport, operation, `podTemplates { ${selection} }`, attempt);
      return readRecords(TEMPLATE, myself, "podTemplates", LIST_CAP);
    },
    byIds: byAliases((operation, ids, attempt) =>
      readAliases(transport, TEMPLATE, operation, { name: "podTemplate", selection, of: "query" }, ids, attempt),
    ),
    create: (operation, settings, attempt) =>
      send(operation, { ...toInput(TEMPLATE_FIELDS, { ...settings }), ...NEW_SERVERLESS_TEMPLATE }, attempt),
    change,
    async readBound(operation, id, attempt) {
      const field = { name: "podTemplate", selection: `${selection} boundEndpointId`, of: "query" } as const;
      const { records } = await readAliases(transport, BOUND_TEMPLATE, operation, field, [id], attempt);
      const [template] = records;
      if (!template) return undefined;
      const { boundEndpointId } = template.kept;
      return {
        container: template,
        boundEndpointId: typeof boundEndpointId === "string" ? boundEndpointId : undefined,
        async save(each, changes, during) {
          const after = { ...template, ...changes };
          if (!isDeepStrictEqual(template, after)) await change(each, template, after, during);
        },
      };
    },
    // The service has no deletion by id.
    deletesByName: true,
    delete: (operation, { name }, attempt) =>
      remove(transport, operation, "deleteTemplate", { templateName: name }, attempt),
  };
}
