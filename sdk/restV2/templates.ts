import { TEMPLATE, TEMPLATE_FIELDS, type Template } from "../templates/template";
import { TEMPLATE_OUTPUTS, type TemplateCalls } from "../templates/templates";
import { changedInV2, hiddenInV2, resetInV2, V2_TYPES, v2Body, v2RecordSchema } from "./format";
import { v2Requests } from "./requests";
import type { RestV2Transport } from "./transport";

export const TEMPLATE_LIST = {
  ...TEMPLATE,
  schema: v2RecordSchema<Template>(TEMPLATE_FIELDS, TEMPLATE_OUTPUTS, V2_TYPES),
  names: {
    list: "listTemplates",
    read: "getTemplate",
    create: "createTemplate",
    change: "updateTemplate",
    delete: "deleteTemplate",
  },
  path: "/templates",
  field: "templates",
};

/** The fields that make a new template a template for endpoints. */
const NEW_SERVERLESS_TEMPLATE = { serverless: true, public: false, startSsh: false, startJupyter: false };

/**
 * Returns the requests over REST v2. A change sends only the fields that differ. A deletion uses
 * the id.
 */
export function v2TemplateCalls(transport: RestV2Transport): TemplateCalls {
  const requests = v2Requests(transport, TEMPLATE_LIST);
  return {
    ...requests,
    create: (operation, settings, attempt) =>
      requests.create(operation, { ...v2Body(TEMPLATE_FIELDS, settings), ...NEW_SERVERLESS_TEMPLATE }, attempt),
    change(operation, before, settings, attempt) {
      const changed = changedInV2(TEMPLATE_FIELDS, before, settings);
      return requests.patch(operation, before.id, v2Body(TEMPLATE_FIELDS, settings, changed), attempt);
    },
    resets: (before, changes) => resetInV2(TEMPLATE_FIELDS, before, changes),
    hiddenIn: (template) => hiddenInV2(TEMPLATE_FIELDS, template),
  };
}
