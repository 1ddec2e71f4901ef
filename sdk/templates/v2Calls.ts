import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import { given, v2Requests } from "../records/v2Calls";
import type { RestV2Transport } from "../transport/restV2";
import { normalizePorts, TEMPLATE_DEFAULTS } from "./fields";
import { TEMPLATE, type TemplateCalls } from "./graphqlCalls";
import type { Template, TemplateSettings } from "./record";

const wireSchema = z.looseObject({
  id: z.string().min(1),
  name: z.string(),
  image: z.string().nullish(),
  args: z.string().nullish(),
  disk: z.number().nullish(),
  env: z.record(z.string(), z.string()).nullish(),
  ports: z.array(z.string()).nullish(),
  registry: z.string().nullish(),
  serverless: z.boolean().nullish(),
  public: z.boolean().nullish(),
});

const templateV2Schema: z.ZodType<Template> = wireSchema.transform((record) => ({
  id: record.id,
  name: record.name,
  imageName: record.image ?? "",
  env: record.env ?? {},
  containerDiskInGb: record.disk ?? TEMPLATE_DEFAULTS.containerDiskInGb,
  dockerArgs: record.args ?? "",
  ports: normalizePorts(record.ports ?? []),
  containerRegistryAuthId: record.registry ?? "",
  readme: "",
  isServerless: record.serverless ?? false,
  isPublic: record.public ?? false,
  kept: {},
}));

export const TEMPLATE_LIST = {
  ...TEMPLATE,
  schema: templateV2Schema,
  names: { list: "listTemplates", create: "createTemplate", change: "updateTemplate", delete: "deleteTemplate" },
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
      requests.create(operation, { ...toBody(settings), ...NEW_SERVERLESS_TEMPLATE }, attempt),
    change(operation, before, settings, attempt) {
      const [was, body] = [toBody(before), toBody(settings)];
      const changed = Object.entries(body).filter(([field, value]) => !isDeepStrictEqual(was[field], value));
      return requests.patch(operation, before.id, Object.fromEntries(changed), attempt);
    },
    containersOfEndpoints: v2Requests(transport, CONTAINERS).list,
    // REST v2 has no description of templates.
    hiddenIn: () => ["readme"],
  };
}

function toBody(settings: Partial<TemplateSettings>): Record<string, unknown> {
  const { name, imageName, env, containerDiskInGb, dockerArgs, ports, containerRegistryAuthId } = settings;
  return given({
    name,
    image: imageName,
    env,
    disk: containerDiskInGb,
    args: dockerArgs,
    ports: ports?.split(",").filter((port) => port !== ""),
    registry: containerRegistryAuthId === "" ? null : containerRegistryAuthId,
  });
}
