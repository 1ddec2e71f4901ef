import type * as pulumi from "@pulumi/pulumi";
import { requireAddress, requireApiKey } from "../sdk/config";
import type { EndpointInput } from "../sdk/endpointInput";
import type { Endpoint } from "../sdk/endpointRecord";
import type { Endpoints } from "../sdk/endpoints";
import { NotFoundError } from "../sdk/errors";
import { type Account, isMoved, refuseOtherAccount } from "./account";
import { forEngine } from "./boundary";
import { clientFor } from "./clients";
import { CONFIG_NAMESPACE, extraGpuTiers, type ProviderSettings, providerSettings, type ReadConfig } from "./config";
import { changedFields, hasChanged, refuseOtherEndpoint } from "./diff";
import { checkInputs, containsUnknown, type Properties, UNKNOWN } from "./inputs";
import { managedFields, type Place, toEndpoint, toInputs, toOutputs } from "./outputs";
import { log, logDrain } from "./progress";
import { describeChanges, takeOverOwn } from "./takeOver";

/** Refreshed resources may share a list of endpoints that is no older than this. */
const READ_MAX_AGE_MS = 60_000;

/** The config of the deployment that this process serves; `configure` sets it before the first call. */
let readConfig: ReadConfig = () => undefined;

/** The handlers of a `ServerlessEndpoint`: observe, do what is missing, return what the service has. */
const serverlessEndpoint: pulumi.dynamic.ResourceProvider = {
  async configure({ config }) {
    readConfig = (name) => config.get(`${CONFIG_NAMESPACE}:${name}`);
  },

  async check(oldInputs: Properties, newInputs: Properties) {
    const { inputs, problems } = checkInputs(oldInputs, newInputs, { extraGpuTiers: extraGpuTiers(readConfig) });
    const { adoptId } = inputs;
    if (adoptId !== undefined && adoptId !== UNKNOWN && Object.keys(oldInputs).length === 0) {
      log(
        String(inputs.name ?? adoptId),
        `endpoint ${adoptId} is taken over and changed to match the program; none is created`,
      );
    }
    return { inputs, failures: problems.map(({ property, message }) => ({ property, reason: message })) };
  },

  async diff(id, outputs: Properties, inputs: Properties) {
    refuseOtherEndpoint(id, inputs);
    const account = currentAccount();
    if (account && isMoved(outputs, account, id)) {
      return { changes: true, replaces: ["__account"], deleteBeforeReplace: true };
    }
    // Without an answer to whether it changed, the engine compares the inputs itself and shows each field.
    return hasChanged(outputs, inputs) ? { deleteBeforeReplace: true } : { changes: false };
  },

  async create(inputs: Properties) {
    const { endpoints, place } = connect();
    const endpoint = await (inputs.adoptId === undefined ? create(endpoints, inputs) : adopt(endpoints, inputs));
    return { id: endpoint.id, outs: toOutputs(endpoint, inputs, place) };
  },

  async read(id, outputs: Properties) {
    const { endpoints, place, settings } = connect();
    const endpoint = await endpoints.find(id, { maxAgeMs: READ_MAX_AGE_MS });
    if (endpoint) {
      const inputs = toInputs(endpoint, outputs);
      return { id, props: toOutputs(endpoint, inputs, place), inputs };
    }
    if (outputs.__mustExist) {
      throw new NotFoundError(`endpoint ${id} does not exist in this account. Check the id and the API key`);
    }
    if (!settings.allowAccountChange) refuseOtherAccount(outputs, place.account, id);
    // An answer without an id tells the engine that the resource is gone.
    return {};
  },

  async update(id, outputs: Properties, inputs: Properties) {
    const { endpoints, place } = connect();
    const mustSave = changedFields(outputs, inputs).length > 0;
    const endpoint = mustSave ? await endpoints.update(id, managedFields(inputs)) : toEndpoint(outputs);
    return { outs: toOutputs(endpoint, inputs, place) };
  },

  async delete(id, outputs: Properties) {
    const { endpoints, place, settings } = connect();
    const drainTimeoutMs = typeof outputs.drainTimeout === "number" ? outputs.drainTimeout * 1000 : undefined;
    await endpoints.delete(id, {
      ...(drainTimeoutMs === undefined ? {} : { drainTimeoutMs }),
      onProgress: logDrain(String(outputs.name ?? id)),
      onAbsent() {
        if (!settings.allowAccountChange) refuseOtherAccount(outputs, place.account, id);
      },
    });
  },
};

/** The entry point that state names: `require("pulumi-serverless-gpu/handlers").v1`. Permanent. */
export const v1 = forEngine(serverlessEndpoint);

/** Creates, or takes over what an interrupted create of this very resource has left. */
function create(endpoints: Endpoints, inputs: Properties): Promise<Endpoint> {
  return endpoints.create(managedFields(inputs) as EndpointInput, {
    onNameTaken(existing) {
      const own = takeOverOwn(existing, inputs);
      log(
        own.name,
        `endpoint ${own.id} was created by an interrupted run of this stack; it is taken over, none is created`,
      );
      return own;
    },
  });
}

/** Takes over the endpoint that the program names, and changes it to match. */
async function adopt(endpoints: Endpoints, inputs: Properties): Promise<Endpoint> {
  const id = String(inputs.adoptId);
  const found = await endpoints.get(id);
  const fields = managedFields(inputs);
  const isAsWanted = changedFields({ ...found }, fields).length === 0;
  const endpoint = isAsWanted ? found : await endpoints.update(id, fields);
  log(endpoint.name, `took over endpoint ${id}; ${describeChanges({ ...found }, { ...endpoint })}`);
  return endpoint;
}

/** All that a call needs. Throws before any call when a setting is missing. */
function connect(): { endpoints: Endpoints; place: Place; settings: ProviderSettings } {
  const settings = providerSettings(readConfig);
  return {
    endpoints: clientFor(settings).endpoints,
    place: { queueUrl: requireAddress(settings, "queueUrl"), account: accountOf(settings) },
    settings,
  };
}

function accountOf(settings: ProviderSettings): Account {
  return {
    address: requireAddress(settings, "graphqlUrl"),
    apiKey: requireApiKey(settings),
    provider: settings.provider,
  };
}

/** The account, as far as it is known: previews work without a key, and with one that is not known yet. */
function currentAccount(): Account | undefined {
  try {
    const account = accountOf(providerSettings(readConfig));
    return containsUnknown(account) ? undefined : account;
  } catch {
    return undefined;
  }
}
