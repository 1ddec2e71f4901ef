import type * as pulumi from "@pulumi/pulumi";
import type { EndpointInput } from "../sdk/endpointInput";
import type { Endpoint } from "../sdk/endpointRecord";
import { NotFoundError } from "../sdk/errors";
import { isMoved, refuseOtherAccount } from "./account";
import { awaitReady } from "./awaitReady";
import { extraGpuTiers } from "./config";
import { type Connection, configure, connect, currentAccount, readConfig } from "./connection";
import { changedFields, hasChanged, refuseOtherEndpoint } from "./diff";
import { checkInputs, type Properties, UNKNOWN } from "./inputs";
import { oneAtATime } from "./oneAtATime";
import { managedFields, toEndpoint, toInputs, toOutputs } from "./outputs";
import { drainLogger, log } from "./progress";
import { describeChanges, takeOverOwn } from "./takeOver";

/** Refreshed resources may share a list of endpoints that is no older than this. */
const READ_MAX_AGE_MS = 60_000;

/** The handlers of a `ServerlessEndpoint`: observe, do what is missing, return what the service has. */
export const endpointHandlers: pulumi.dynamic.ResourceProvider = {
  configure,

  async check(oldInputs: Properties, newInputs: Properties) {
    const { inputs, problems } = checkInputs(oldInputs, newInputs, { extraGpuTiers: extraGpuTiers(readConfig) });
    const isNew = Object.keys(oldInputs).length === 0;
    if (isNew && inputs.adoptId !== undefined && inputs.adoptId !== UNKNOWN) announceAdoption(inputs);
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
    const connection = connect();
    const make = () => (inputs.adoptId === undefined ? create(connection, inputs) : adopt(connection, inputs));
    const endpoint = await oneAtATime(String(inputs.name), make);
    const outs = toOutputs(endpoint, inputs, connection);
    await awaitReady(connection.client, endpoint, inputs, outs);
    return { id: endpoint.id, outs };
  },

  async read(id, outputs: Properties) {
    const connection = connect();
    const endpoint = await connection.client.endpoints.find(id, { maxAgeMs: READ_MAX_AGE_MS });
    if (endpoint) {
      const inputs = toInputs(endpoint, outputs);
      return { id, props: toOutputs(endpoint, inputs, connection), inputs };
    }
    if (outputs.__mustExist) {
      throw new NotFoundError(`endpoint ${id} does not exist in this account. Check the id and the API key`);
    }
    refuseOtherAccount(outputs, connection, id);
    // An answer without an id tells the engine that the resource is gone.
    return {};
  },

  async update(id, outputs: Properties, inputs: Properties) {
    const connection = connect();
    const mustSave = changedFields(outputs, inputs).length > 0;
    const endpoint = mustSave
      ? await connection.client.endpoints.update(id, managedFields(inputs))
      : toEndpoint(id, outputs);
    const outs = toOutputs(endpoint, inputs, connection);
    await awaitReady(connection.client, endpoint, inputs, outs);
    return { outs };
  },

  async delete(id, outputs: Properties) {
    const connection = connect();
    await connection.client.endpoints.delete(id, {
      ...(typeof outputs.drainTimeout === "number" ? { drainTimeoutMs: outputs.drainTimeout * 1000 } : {}),
      onProgress: drainLogger(String(outputs.name ?? id)),
      onAbsent: () => refuseOtherAccount(outputs, connection, id),
    });
  },
};

/** Creates, or takes over what an interrupted create of this very resource has left. */
function create({ client }: Connection, inputs: Properties): Promise<Endpoint> {
  return client.endpoints.create(managedFields(inputs) as EndpointInput, {
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
async function adopt({ client }: Connection, inputs: Properties): Promise<Endpoint> {
  const id = String(inputs.adoptId);
  const found = await client.endpoints.get(id);
  const fields = managedFields(inputs);
  const isAsWanted = changedFields({ ...found }, fields).length === 0;
  const endpoint = isAsWanted ? found : await client.endpoints.update(id, fields);
  log(endpoint.name, `took over endpoint ${id}; ${describeChanges({ ...found }, { ...endpoint })}`);
  return endpoint;
}

function announceAdoption({ name, adoptId }: Properties): void {
  log(String(name ?? adoptId), `endpoint ${adoptId} is taken over and changed to match the program; none is created`);
}
