import type * as pulumi from "@pulumi/pulumi";
import { requireAddress } from "../sdk/config";
import type { DeleteProgress } from "../sdk/deleteEndpoint";
import { ENDPOINT_DEFAULTS, type EndpointInput } from "../sdk/endpointInput";
import type { Endpoint } from "../sdk/endpoints";
import { clientFor } from "./clients";
import { CONFIG_NAMESPACE, type ProviderSettings, providerSettings, type ReadConfig } from "./config";
import { changedFields } from "./diff";
import { checkInputs, type Properties } from "./inputs";

/** The service's fields of an endpoint that inputs and outputs hold. */
const FIELDS = ["name", "gpuIds", "templateId", ...Object.keys(ENDPOINT_DEFAULTS)] as (keyof Endpoint &
  keyof EndpointInput)[];

/** Refreshed resources may share a list of endpoints that is no older than this. */
const READ_MAX_AGE_MS = 30_000;

/** The config of the deployment that this process serves; `configure` sets it before the first call. */
let readConfig: ReadConfig = () => undefined;

/** The handlers of a `ServerlessEndpoint`: observe, do what is missing, return what the service has. */
const serverlessEndpoint: pulumi.dynamic.ResourceProvider = {
  async configure({ config }) {
    readConfig = (name) => config.get(`${CONFIG_NAMESPACE}:${name}`);
  },

  async check(oldInputs: Properties, newInputs: Properties) {
    const { inputs, problems } = checkInputs(oldInputs, newInputs, settings());
    return { inputs, failures: problems.map(({ property, message }) => ({ property, reason: message })) };
  },

  async diff(_id, outputs: Properties, inputs: Properties) {
    // Without an answer to whether it changed, the engine compares the inputs itself and shows each field.
    return changedFields(outputs, inputs).length === 0 ? { changes: false } : { deleteBeforeReplace: true };
  },

  async create(inputs: Properties) {
    const { endpoints, queueUrl } = connect();
    const endpoint = await endpoints.create(managedFields(inputs) as unknown as EndpointInput);
    return { id: endpoint.id, outs: toOutputs(endpoint, inputs, queueUrl) };
  },

  async read(id, outputs: Properties) {
    const { endpoints, queueUrl } = connect();
    const endpoint = await endpoints.find(id, { maxAgeMs: READ_MAX_AGE_MS });
    // An answer without an id tells the engine that the resource is gone.
    if (!endpoint) return {};
    const inputs = recordedInputs(outputs, endpoint);
    return { id, props: toOutputs(endpoint, inputs, queueUrl), inputs };
  },

  async update(id, _outputs: Properties, inputs: Properties) {
    const { endpoints, queueUrl } = connect();
    return { outs: toOutputs(await endpoints.update(id, managedFields(inputs)), inputs, queueUrl) };
  },

  async delete(id, outputs: Properties) {
    const { endpoints } = connect();
    await endpoints.delete(id, { onProgress: progressLogger(String(outputs.name ?? id)) });
  },
};

/** The entry point that state names: `require("pulumi-serverless-gpu/handlers").v1`. Permanent. */
export const v1 = serverlessEndpoint;

function settings(): ProviderSettings {
  return providerSettings(readConfig);
}

/** The client's endpoints, once all that a call needs is known to be there. */
function connect() {
  const current = settings();
  requireAddress(current, "graphqlUrl");
  return { endpoints: clientFor(current).endpoints, queueUrl: requireAddress(current, "queueUrl") };
}

/** The fields that the program manages. */
function managedFields(inputs: Properties): Partial<EndpointInput> {
  return Object.fromEntries(FIELDS.filter((field) => field in inputs).map((field) => [field, inputs[field]]));
}

/** The endpoint as the service has it, complete, and a record of which inputs there were: `read` is not given them. */
function toOutputs(endpoint: Endpoint, inputs: Properties, queueUrl: string): Properties {
  return {
    ...Object.fromEntries(FIELDS.map((field) => [field, endpoint[field]])),
    endpointId: endpoint.id,
    queueUrl: `${queueUrl}/v2/${endpoint.id}`,
    __provider: inputs.__provider,
    __inputs: Object.keys(inputs)
      .filter((input) => input !== "__provider")
      .join(","),
  };
}

/** The inputs that would declare the endpoint as it is now, of those that the program manages. */
function recordedInputs({ __provider, __inputs }: Properties, endpoint: Endpoint): Properties {
  const recorded = String(__inputs ?? "").split(",");
  const fields = FIELDS.filter((field) => recorded.includes(field)).map((field) => [field, endpoint[field]]);
  return {
    ...Object.fromEntries(fields),
    ...(recorded.includes("__nameIsAutomatic") ? { __nameIsAutomatic: true } : {}),
    __provider,
  };
}

/** Tells on the console, which becomes an info line of the stack, what a deletion waits for; a line each ten seconds. */
function progressLogger(name: string): (progress: DeleteProgress) => void {
  let toldAtMs = Number.NEGATIVE_INFINITY;
  return ({ phase, activePods, elapsedMs }) => {
    if (phase !== "draining" || elapsedMs - toldAtMs < 10_000) return;
    toldAtMs = elapsedMs;
    const pods = activePods === 1 ? "1 pod" : `${activePods} pods`;
    console.log(`${name}: waiting for ${pods} to leave before it is deleted (${Math.round(elapsedMs / 1000)} s)`);
  };
}
