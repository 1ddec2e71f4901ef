import type * as pulumi from "@pulumi/pulumi";
import { FIELDS } from "../../sdk/endpoints/fields";
import type { Endpoint, EndpointInput } from "../../sdk/endpoints/record";
import { cancelled } from "../cancellation";
import { refuseOtherAccount } from "../connection/account";
import { acceptedWords } from "../connection/config";
import { type Connection, configure, connect, currentCapabilities, readConfig } from "../connection/connection";
import { drainLogger, log } from "../log";
import type { Properties } from "../properties";
import { readAbsent } from "../resource/absent";
import {
  claimChecked,
  describeChanges,
  existingAdoptee,
  isLeftToAdopter,
  refuseOtherId,
  refuseTakenName,
} from "../resource/adoption";
import { forgetAdopter, recordAdopter } from "../resource/lastAdopter";
import { locate } from "../resource/location";
import { oneAtATime } from "../resource/oneAtATime";
import { adoptAlone, claimCompared, ownerOf, ownerOfNew } from "../resource/owners";
import { refuseRename } from "../resource/rename";
import { LIST_MAX_AGE_MS } from "../resource/sharedLists";
import { announceZero, noteRead, scaleDownRecord, warnIfOff, zeroRepair } from "./atZero";
import { awaitReady, isReadyPending, readyPending } from "./awaitReady";
import { changedFields, hasChanged } from "./diff";
import { checkInputs } from "./inputs";
import { interfaceProblems } from "./interfaceProblems";
import { proveTarget } from "./move";
import { knownToAdopter, managedFields, toEndpoint, toInputs, toOutputs, unseenOutputs } from "./outputs";
import { rollOut } from "./rollOut";
import { bringUpToDate } from "./updateEndpoint";

/** The handlers of a `ServerlessEndpoint`: observe the service, make the missing changes, return the result. */
export const endpointHandlers: Required<pulumi.dynamic.ResourceProvider> = {
  configure,

  async check(oldInputs: Properties, newInputs: Properties) {
    const { inputs, problems } = checkInputs(oldInputs, newInputs, acceptedWords(readConfig));
    const capabilities = currentCapabilities();
    if (capabilities) problems.push(...interfaceProblems(oldInputs, inputs, capabilities));
    return claimChecked("endpoint", oldInputs, newInputs, { inputs, problems });
  },

  async diff(id, outputs: Properties, inputs: Properties) {
    // A replacement that creates would find the old endpoint by its name. One that adopts has no such reason, and the
    // engine deletes at the end of a run, when every resource has claimed its endpoint.
    const deleteBeforeReplace = inputs.adoptId === undefined;
    const location = await locate("endpoint", id, outputs, (client) => client.endpoints);
    if (location === "moved") {
      await proveTarget(id, outputs, inputs);
      return { changes: true, replaces: ["__account"], deleteBeforeReplace };
    }
    refuseOtherId("an endpoint", id, inputs);
    claimCompared("endpoint", id, ownerOf(outputs));
    const isLeftAtZero = announceZero(id, outputs, inputs);
    // Without `changes`, the engine compares the inputs itself and shows each field.
    if (location === "here" && hasChanged(outputs, inputs)) return { deleteBeforeReplace };
    const changes = location === "redirected" || isReadyPending(outputs) || isLeftAtZero;
    return { changes, deleteBeforeReplace };
  },

  async create(inputs: Properties) {
    const connection = connect();
    const owner = ownerOfNew(inputs);
    const { adoptId } = inputs;
    const make = () =>
      adoptId === undefined
        ? create(connection, inputs)
        : adoptAlone("endpoint", String(adoptId), owner, () => adopt(connection, inputs));
    const endpoint = await oneAtATime(String(inputs.name), make);
    const outs = toOutputs(endpoint, inputs, connection, owner);
    const { id } = endpoint;
    warnIfOff(id, { ...endpoint }, inputs);
    if (adoptId !== undefined) recordAdopter({ account: outs.__account, noun: "endpoint", id }, owner);
    await awaitReady(connection.client, endpoint, inputs, outs);
    return { id, outs };
  },

  async read(id, outputs: Properties) {
    const connection = connect();
    const endpoint = await connection.client.endpoints.find(id, {
      maxAgeMs: LIST_MAX_AGE_MS,
      known: outputs,
      signal: cancelled,
    });
    if (!endpoint) return readAbsent("endpoint", id, outputs, connection);
    const inputs = toInputs(endpoint, outputs);
    noteRead(id, outputs, inputs, endpoint);
    const props = toOutputs(endpoint, inputs, connection, ownerOf(outputs));
    return { id, props: { ...props, ...readyPending(outputs) }, inputs };
  },

  async update(id, outputs: Properties, inputs: Properties) {
    const connection = connect();
    const saved = await bringUpToDate(connection, id, outputs, inputs);
    const endpoint = (await rollOut(connection.client, id, outputs, inputs)) ?? saved;
    scaleDownRecord(id, outputs).forget();
    if (endpoint) warnIfOff(id, { ...endpoint }, inputs);
    const outs = endpoint ? toOutputs(endpoint, inputs, connection, ownerOf(outputs)) : unseenOutputs(outputs, inputs);
    await awaitReady(connection.client, endpoint ?? toEndpoint(id, outputs), inputs, outs);
    return { outs };
  },

  async delete(id, outputs: Properties) {
    if (isLeftToAdopter("endpoint", id, outputs)) return;
    const connection = connect();
    const { workers, forget, onScaleDown, onPutBack } = scaleDownRecord(id, outputs);
    await connection.client.endpoints.delete(id, {
      ...(outputs.drain === false && { drain: false }),
      ...(typeof outputs.drainTimeout === "number" ? { drainTimeoutMs: outputs.drainTimeout * 1000 } : {}),
      signal: cancelled,
      onProgress: drainLogger(String(outputs.name ?? id)),
      onAbsent: () => refuseOtherAccount("endpoint", outputs, connection, id),
      ...{ workers: workers(), onScaleDown, onPutBack },
    });
    forget();
    forgetAdopter({ account: outputs.__account, noun: "endpoint", id });
  },
};

/** Creates the endpoint, unless an endpoint has its name. */
function create({ client }: Connection, inputs: Properties): Promise<Endpoint> {
  return client.endpoints.create(managedFields(inputs) as EndpointInput, {
    onNameTaken: (existing) => refuseTakenName("an endpoint", existing, inputs.name),
  });
}

/** Adopts the endpoint with the program's `adoptId`, and changes it to match the program. */
async function adopt({ client }: Connection, inputs: Properties): Promise<Endpoint> {
  const id = String(inputs.adoptId);
  const fields = managedFields(inputs);
  const found = existingAdoptee(await client.endpoints.find(id, { known: knownToAdopter(fields) }), "endpoint", id);
  const changes = { ...fields, ...zeroRepair(id, {}, inputs, found) };
  const isAsWanted = changedFields({ ...found }, changes).length === 0;
  const endpoint = isAsWanted
    ? found
    : await client.endpoints.update(id, changes, refuseRename("endpoint", id, fields.name));
  const isTemplateShown = found.templateId !== "";
  const described = describeChanges(
    FIELDS,
    { ...found, ...(!isTemplateShown && { templateId: endpoint.templateId }) },
    { ...endpoint },
    inputs,
  );
  const applied = isTemplateShown ? "" : "; its template was applied, because the present one is not shown";
  log(endpoint.name, `adopted endpoint ${id}; ${described}${applied}`);
  return endpoint;
}
