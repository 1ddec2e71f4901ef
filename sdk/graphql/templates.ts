import { isDeepStrictEqual } from "node:util";
import { LIST_CAP } from "../contract/limits";
import type { BoundTemplate } from "../endpoints/calls";
import { UnexpectedResponseError } from "../errors/errors";
import { type KeptTable, unsetValue } from "../records/fields";
import { decodeRecords, type ReadableKind } from "../records/listed";
import { TEMPLATE, TEMPLATE_FIELDS, type Template, type TemplateSettings } from "../templates/template";
import { TEMPLATE_OUTPUTS, type TemplateCalls } from "../templates/templates";
import type { Attempt, CallContext } from "../transport/call";
import { GRAPHQL_TYPES } from "./containers";
import { recordSchema, selectionOf, toInput } from "./format";
import { createKeptFields, withKept } from "./keptFields";
import { byAliases, readAliases, readMyself, sendDeletion, sendSave } from "./requests";
import type { GraphqlTransport, Literal } from "./transport";

const KEPT_FIELDS: KeptTable = {
  volumeInGb: {},
  volumeMountPath: {},
  portsConfig: { selection: "portsConfig { name port }", isUncertain: true },
  startSsh: {},
  startJupyter: {},
  startScript: { isUncertain: true },
  advancedStart: { isUncertain: true },
  category: { isGraphqlEnum: true, isUncertain: true },
};

/** The fields that make a new template a template for endpoints. */
const NEW_SERVERLESS_TEMPLATE = {
  isServerless: true,
  isPublic: false,
  volumeInGb: 0,
  startSsh: false,
  startJupyter: false,
};

const templateSchema = withKept<Template>(recordSchema(TEMPLATE_FIELDS, TEMPLATE_OUTPUTS, GRAPHQL_TYPES), KEPT_FIELDS);

const KIND: ReadableKind<Template> = { ...TEMPLATE, schema: templateSchema };

/** Describes templates, including the id of the endpoint to which a template belongs. */
const BOUND_TEMPLATE: ReadableKind<Template> = {
  ...TEMPLATE,
  schema: withKept<Template>(recordSchema(TEMPLATE_FIELDS, TEMPLATE_OUTPUTS, GRAPHQL_TYPES), {
    ...KEPT_FIELDS,
    boundEndpointId: { isReadOnly: true },
  }),
};

/**
 * Returns the settings that a save would reset because the template, as it was read, lacks them.
 */
function lackedBySave({ unshown = [] }: Template, changes: object): readonly string[] {
  return unshown.filter((field) => field === "env" || !Object.hasOwn(changes, field));
}

function notShown(name: string, id: string, field: string): UnexpectedResponseError {
  return new UnexpectedResponseError(
    `template ${id} ("${name}") was not changed: the service did not show its ${field}, and a save without that would reset ` +
      "it. Try again later",
  );
}

/**
 * Returns all settings to send, because `saveTemplate` may reset what is left out. Settings that
 * the template does not have are left out, because an empty value would clear them.
 */
function withRest(before: Template, changes: Partial<TemplateSettings>): Record<string, unknown> {
  const rest = Object.entries(TEMPLATE_FIELDS).flatMap(([name, field]) => {
    const value = before[name as keyof TemplateSettings];
    const isEmpty = field.isUnsetIfAbsent === true && isDeepStrictEqual(value, unsetValue(field));
    return isEmpty ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(rest), ...changes };
}

/**
 * Returns the requests over GraphQL. All fields are sent, because `saveTemplate` may reset omitted
 * fields.
 */
export function graphqlTemplateCalls({ warn }: CallContext, transport: GraphqlTransport): TemplateCalls {
  const kept = createKeptFields(KEPT_FIELDS, "templates", warn);
  const selection = () => `${selectionOf(TEMPLATE_FIELDS, TEMPLATE_OUTPUTS)} ${kept.selection()}`;
  const send = (operation: string, inputOf: () => Literal, attempt: Attempt) =>
    kept.send(() => {
      const mutation = { name: "saveTemplate", input: inputOf(), selection: selection() };
      return sendSave(transport, operation, mutation, templateSchema, attempt);
    });
  const change: TemplateCalls["change"] = (operation, before, settings, attempt) => {
    const { id, isServerless, isPublic } = before;
    const fields = toInput(TEMPLATE_FIELDS, withRest(before, settings));
    const inputOf = () => ({ id, ...kept.input(before.kept), isServerless, isPublic, ...fields });
    return send(operation, inputOf, attempt);
  };
  const boundTemplate = (template: Template): BoundTemplate => {
    const { id, name, kept } = template;
    return {
      id,
      name,
      boundEndpointId: typeof kept.boundEndpointId === "string" ? kept.boundEndpointId : undefined,
      async save(operation, changes, attempt) {
        const [lacking] = lackedBySave(template, changes);
        if (lacking !== undefined) throw notShown(name, id, lacking);
        if (!isDeepStrictEqual(template, { ...template, ...changes }))
          await change(operation, template, changes, attempt);
      },
    };
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
      const read = () => readMyself(transport, operation, `podTemplates { ${selection()} }`, attempt);
      const myself = await kept.send(read);
      return decodeRecords(KIND, myself, "podTemplates", LIST_CAP);
    },
    byIds: byAliases((operation, ids, attempt) =>
      kept.send(() => {
        const field = { name: "podTemplate", selection: selection(), of: "query" } as const;
        return readAliases(transport, KIND, operation, field, ids, attempt);
      }),
    ),
    create: (operation, settings, attempt) =>
      send(operation, () => ({ ...toInput(TEMPLATE_FIELDS, { ...settings }), ...NEW_SERVERLESS_TEMPLATE }), attempt),
    change,
    resets: lackedBySave,
    readBound: byAliases(async (operation, ids, attempt) => {
      const { records, unreadable } = await kept.send(() => {
        const field = { name: "podTemplate", selection: `${selection()} boundEndpointId`, of: "query" } as const;
        return readAliases(transport, BOUND_TEMPLATE, operation, field, ids, attempt);
      });
      return { records: records.map(boundTemplate), unreadable };
    }),
    // The service cannot delete a template by its id.
    deletesByName: true,
    delete: (operation, { name }, attempt) =>
      sendDeletion(transport, operation, "deleteTemplate", { templateName: name }, attempt),
  };
}
