import type { Capabilities } from "../../sdk/contract/capabilities";
import { systemClock } from "../../sdk/contract/clock";
import { explainWait } from "../../sdk/diagnosis/waits";
import { isContainerField } from "../../sdk/endpoints/ownContainer";
import type { Endpoint, EndpointInput } from "../../sdk/endpoints/record";
import { existing, SHARED_LIST_MAX_AGE_MS } from "../../sdk/records/reads";
import { endpointQueueUrl, serverUrl } from "../../sdk/transport/urls";
import { cancelled } from "../cancellation";
import { checkEndpoint } from "../catalog/catalogCheck";
import { accountRecord } from "../connection/account";
import type { Connection } from "../connection/connection";
import { saveVariables } from "../container/variables";
import { drainLogger, log, withLastWords } from "../log";
import type { Properties } from "../properties";
import type { JudgeChange, Preparation, RecordChange, RecordKind, Save, Situation } from "../records/recordKind";
import { refuseRename } from "../records/rename";
import { ADOPTING, isAdopting, leaveUnadopted } from "../rollOut/adopting";
import { forgetRollOut } from "../rollOut/record";
import { beginRelease, noteUnjudged, settleEarlier } from "../rollOut/rollOut";
import { mayNeedRepair, noteRead, scaleDownRecord, zeroRepair } from "./atZero";
import { readyPending } from "./awaitReady";
import { ENDPOINT_INPUTS, notices } from "./endpointInputs";
import { createOrTakeOver } from "./interruptedCreate";
import { BOUND_TEMPLATE, boundTemplateOf, endpointFields, hasOwnContainer, leftoverVariables } from "./ownContainer";
import { willRecycle } from "./templateRevision";

/** The rules of a `ServerlessEndpoint`. */
export const ENDPOINT_KIND: RecordKind<Endpoint, EndpointInput> = {
  ...ENDPOINT_INPUTS,
  noun: "endpoint",
  savesAutomaticName: true,
  notices,
  // If RunPod does not show the template, we don't know which one the endpoint uses, so it must be
  // applied.
  known: ({ templateId: _, ...fields }) => fields,
  records: ({ endpoints }) => endpoints,
  create: createOrTakeOver,
  update({ client: { endpoints }, account: { service } }, change) {
    const { id, fields, outputs, inputs, unsure } = change;
    const known = unsure ? { templateId: templateBefore(change) } : outputs;
    const options = { ...refuseRename("endpoint", id, fields.name), known };
    if (!hasOwnContainer(inputs)) return endpoints.update(id, fields, options);
    const holder = { service, noun: "endpoint", id };
    return saveVariables(holder, fields, outputs, [], (changes) => endpoints.update(id, changes, options));
  },
  leftover: leftoverVariables,
  async delete(connection, id, outputs, onAbsent) {
    if (isAdopting(outputs)) return leaveUnadopted(connection, id, outputs, onAbsent);
    const { client, capabilities } = connection;
    const { workers, forget, onScaleDown, onPutBack } = scaleDownRecord(id, outputs);
    const why = explainWait(client.endpoints, systemClock, id, "stop", cancelled);
    const deletion = client.endpoints.delete(id, {
      ...(deletesAtOnce(id, outputs, capabilities) && { drain: false }),
      ...(typeof outputs.drainTimeout === "number" ? { drainTimeoutMs: outputs.drainTimeout * 1000 } : {}),
      signal: cancelled,
      onProgress: drainLogger(String(outputs.name ?? id), why),
      onAbsent,
      workers: workers(),
      onScaleDown,
      onPutBack,
      ...boundTemplateOf(outputs),
      ...(typeof outputs.templateId === "string" && { templateId: outputs.templateId }),
    });
    await withLastWords(deletion, why);
    forget();
    forgetRollOut({ id, connection });
  },
  beforeAdoption: (connection, situation) => settleEarlier(connection, situation, true),
  beforeSave,
  appliedUnseen: ({ templateId }, inputs) =>
    templateId === "" && !hasOwnContainer(inputs)
      ? {
          field: "templateId",
          effect:
            "is applied, because REST v2 does not show the current one. That makes a new release and replaces the workers, " +
            "even if the endpoint already has this template. To avoid that, declare imageName and the rest of the container instead",
          done: "its template was applied, because REST v2 does not show the current one: a new release replaces the workers",
        }
      : undefined,
  refreshedOutputs(_service, endpoint, { id, outputs, inputs }) {
    noteRead(id, outputs, inputs, endpoint);
    const adopting = isAdopting(outputs) ? { [ADOPTING]: true } : {};
    return { ...readyPending(outputs), ...adopting, ...noteUnjudged(outputs, endpointFields(endpoint, outputs)) };
  },
  toFields: endpointFields,
  lastingOutputs: [BOUND_TEMPLATE],
  furtherOutputs({ id, type }, { connection: { queueUrl } }) {
    const url = type === "LOAD_BALANCER" ? serverUrl(queueUrl, id) : undefined;
    return { queueUrl: endpointQueueUrl(queueUrl, id), ...(url !== undefined && { url }) };
  },
};

/**
 * Returns `true` if the deletion should end running jobs. State may still contain `drain: false`
 * from REST v2, because a `destroy` over GraphQL gives the program no chance to change it first.
 */
function deletesAtOnce(id: string, { drain, name }: Properties, { deletesWorkers }: Capabilities): boolean {
  if (drain !== false || deletesWorkers) return drain === false;
  log(
    String(name ?? id),
    "drain is false, but GraphQL cannot delete an endpoint with its workers: the deletion waits until they have " +
      "completed their jobs. To end them at once, run it over REST v2 (SERVERLESS_GPU_API=v2)",
  );
  return false;
}

/**
 * Returns the template that the endpoint may have received from a write whose outcome is unknown.
 * In that case, the whole container must be saved, without any of that template's variables.
 */
function templateBefore({ outputs, inputs, unsure }: RecordChange<EndpointInput>): unknown {
  const isContainerChanged = hasOwnContainer(inputs) && unsure?.changed.some(isContainerField) === true;
  return (isContainerChanged && unsure.sent.templateId) || outputs.templateId;
}

/**
 * Refuses changes that the catalog proves impossible, repairs worker counts, and begins the release
 * that an adoption makes.
 */
async function beforeSave(connection: Connection, save: Save<Endpoint>): Promise<Preparation<EndpointInput>> {
  const fields = save.purpose === "create" ? {} : await repairs(connection, save);
  if (save.isSaved || Object.keys(fields).length > 0) await checkEndpoint(connection, save);
  if (save.purpose !== "adopt") return { fields };
  const judge = await startRelease(connection, save, true);
  return { fields, judge, onRejected: () => forgetRollOut({ id: save.id, connection }) };
}

/**
 * Begins the release that a save makes. Returns the function that judges the release after the
 * save.
 */
export async function startRelease(
  connection: Connection,
  situation: Situation,
  isAdoption: boolean,
): Promise<JudgeChange | undefined> {
  const judge = await beginRelease(connection, situation, isAdoption);
  if (!judge) return undefined;
  return (outs, record) => {
    // The save has restored the worker counts, whatever the verdict on the release.
    scaleDownRecord(situation.id, situation.outputs).forget();
    return judge(outs, record);
  };
}

/** Returns the worker counts that must be part of the save of an endpoint that was left at zero. */
async function repairs(
  connection: Connection,
  { id, outputs, inputs, isSaved, adoptee }: Save<Endpoint>,
): Promise<Partial<EndpointInput>> {
  // The endpoint isn't in state yet, but this machine may have scaled it to zero.
  if (adoptee) return zeroRepair(id, { __account: accountRecord(connection.account, id) }, inputs, adoptee);
  // A recycle that was killed while the endpoint was at zero continues from there.
  if (willRecycle(outputs, inputs) || !mayNeedRepair(id, outputs, inputs, isSaved)) return {};
  // This reads the endpoint from a list that the update can reuse.
  const found = await connection.client.endpoints.find(id, { maxAgeMs: SHARED_LIST_MAX_AGE_MS });
  return zeroRepair(id, outputs, inputs, existing(found, { noun: "endpoint" }, id));
}
