import type * as pulumi from "@pulumi/pulumi";
import { requireAddress } from "../sdk/config";
import type { DeleteProgress } from "../sdk/deleteEndpoint";
import type { EndpointInput } from "../sdk/endpointInput";
import type { Endpoints } from "../sdk/endpoints";
import { forEngine } from "./boundary";
import { clientFor } from "./clients";
import { CONFIG_NAMESPACE, type ProviderSettings, providerSettings, type ReadConfig } from "./config";
import { changedFields } from "./diff";
import { checkInputs, type Properties } from "./inputs";
import { managedFields, toInputs, toOutputs } from "./outputs";

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
    const queue = queueUrl();
    const endpoint = await endpoints().create(managedFields(inputs) as unknown as EndpointInput);
    return { id: endpoint.id, outs: toOutputs(endpoint, inputs, queue) };
  },

  async read(id, outputs: Properties) {
    const queue = queueUrl();
    const endpoint = await endpoints().find(id, { maxAgeMs: READ_MAX_AGE_MS });
    // An answer without an id tells the engine that the resource is gone.
    if (!endpoint) return {};
    const inputs = toInputs(endpoint, outputs);
    return { id, props: toOutputs(endpoint, inputs, queue), inputs };
  },

  async update(id, _outputs: Properties, inputs: Properties) {
    const queue = queueUrl();
    return { outs: toOutputs(await endpoints().update(id, managedFields(inputs)), inputs, queue) };
  },

  async delete(id, outputs: Properties) {
    await endpoints().delete(id, { onProgress: progressLogger(String(outputs.name ?? id)) });
  },
};

/** The entry point that state names: `require("pulumi-serverless-gpu/handlers").v1`. Permanent. */
export const v1 = forEngine(serverlessEndpoint);

function settings(): ProviderSettings {
  return providerSettings(readConfig);
}

/** The account's endpoints. Throws before any call when the key or the address is missing. */
function endpoints(): Endpoints {
  const current = settings();
  requireAddress(current, "graphqlUrl");
  return clientFor(current).endpoints;
}

/** Asked for before any call, so that nothing is created that could not be described afterwards. */
function queueUrl(): string {
  return requireAddress(settings(), "queueUrl");
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
