import type { Capabilities } from "../../sdk/contract/capabilities";
import { systemClock } from "../../sdk/contract/clock";
import { explainWait, withLastWords } from "../../sdk/diagnosis/waits";
import { isContainerField } from "../../sdk/endpoints/ownContainer";
import type { Endpoint, EndpointInput } from "../../sdk/endpoints/record";
import { existing, SHARED_LIST_MAX_AGE_MS } from "../../sdk/records/reads";
import { endpointQueueUrl, serverUrl } from "../../sdk/transport/urls";
import { cancelled } from "../cancellation";
import { checkEndpoint } from "../catalog/catalogCheck";
import { accountRecord } from "../connection/account";
import type { Connection } from "../connection/connection";
import { saveVariables } from "../container/variables";
import { drainLogger, log } from "../log";
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
  // If the service does not show the template, it is unknown and must be applied.
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
      ...{ onAbsent, workers: workers(), onScaleDown, onPutBack, ...boundTemplateOf(outputs) },
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
            "even if the endpoint has this template. To change nothing, declare imageName and the rest of the container instead",
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
 * Returns `true` if a deletion ends running jobs. State may hold `drain: false` from REST v2, and
 * no program could change it before a `destroy` over GraphQL.
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
 * Returns the template that the endpoint may have got from a write whose end nobody saw: it then
 * needs a whole container, with no variable of that template.
 */
function templateBefore({ outputs, inputs, unsure }: RecordChange<EndpointInput>): unknown {
  const isContainerChanged = hasOwnContainer(inputs) && unsure?.changed.some(isContainerField) === true;
  return (isContainerChanged && unsure.sent.templateId) || outputs.templateId;
}

/**
 * Refuses what the catalog proves impossible, repairs worker counts, and begins the release of an
 * adoption.
 */
async function beforeSave(connection: Connection, save: Save<Endpoint>): Promise<Preparation<EndpointInput>> {
  const fields = save.purpose === "create" ? {} : await repairs(connection, save);
  if (save.isSaved || Object.keys(fields).length > 0) await checkEndpoint(connection, save);
  if (save.purpose !== "adopt") return { fields };
  const judge = await startRelease(connection, save, true);
  return { fields, judge, onRejected: () => forgetRollOut({ id: save.id, connection }) };
}

/** Begins the release that a save makes. Returns what judges it after the save. */
export async function startRelease(
  connection: Connection,
  situation: Situation,
  isAdoption: boolean,
): Promise<JudgeChange | undefined> {
  const judge = await beginRelease(connection, situation, isAdoption);
  if (!judge) return undefined;
  return (outs, record) => {
    // The save has put the counts back, whatever the verdict.
    scaleDownRecord(situation.id, situation.outputs).forget();
    return judge(outs, record);
  };
}

/** Returns the worker counts that a save of an endpoint at zero must contain. */
async function repairs(
  connection: Connection,
  { id, outputs, inputs, isSaved, adoptee }: Save<Endpoint>,
): Promise<Partial<EndpointInput>> {
  // State does not know the endpoint yet, and this machine may have switched it off.
  if (adoptee) return zeroRepair(id, { __account: accountRecord(connection.account, id) }, inputs, adoptee);
  // A recycle that was killed at zero continues from there.
  if (willRecycle(outputs, inputs) || !mayNeedRepair(id, outputs, inputs, isSaved)) return {};
  // Read from a list that the update can share.
  const found = await connection.client.endpoints.find(id, { maxAgeMs: SHARED_LIST_MAX_AGE_MS });
  return zeroRepair(id, outputs, inputs, existing(found, { noun: "endpoint" }, id));
}
