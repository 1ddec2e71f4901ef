import { V2_TYPES } from "../containers/wireFormat";
import { withKept } from "../records/keptFields";
import { v2Requests } from "../records/v2Calls";
import { changedInV2, hiddenInV2, v2Body, v2RecordSchema } from "../records/v2Format";
import type { RestV2Transport } from "../transport/restV2";
import { TEMPLATE_FIELDS } from "./fields";
import { OUTPUT_ONLY_FIELDS, TEMPLATE, type TemplateCalls } from "./graphqlCalls";
import type { Template } from "./record";

export const TEMPLATE_LIST = {
  ...TEMPLATE,
  schema: withKept<Template>(v2RecordSchema(TEMPLATE_FIELDS, OUTPUT_ONLY_FIELDS, V2_TYPES), {}),
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

/** Endpoints have the fields of a container that templates have. */
const CONTAINERS = {
  ...TEMPLATE_LIST,
  names: { ...TEMPLATE_LIST.names, list: "listEndpoints" },
  path: "/serverless",
  field: "endpoints",
};

/** The fields that a new template gets for endpoints. */
const NEW_SERVERLESS_TEMPLATE = { serverless: true, public: false, startSsh: false, startJupyter: false };

/** Returns the requests over REST v2. A change sends only what differs; the deletion is by id. */
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
    containersOfEndpoints: v2Requests(transport, CONTAINERS).list,
    hiddenIn: (template) => hiddenInV2(TEMPLATE_FIELDS, template),
  };
}
