import type { Capabilities } from "../../sdk/contract/capabilities";
import { systemClock } from "../../sdk/contract/clock";
import { explainWait } from "../../sdk/diagnosis/waits";
import { isContainerField } from "../../sdk/endpoints/ownContainer";
import type { Endpoint, EndpointInput } from "../../sdk/endpoints/record";
import { existing, SHARED_LIST_MAX_AGE_MS } from "../../sdk/records/reads";
import { endpointQueueUrl, serverUrl } from "../../sdk/transport/urls";
import type { Connection } from "../connection/connection";
import { cancelled } from "../engine/cancellation";
import { drainLogger, log, withLastWords } from "../engine/log";
import { type Properties, pick } from "../engine/properties";
import { fieldOf, flat } from "../fields/settings";
import { checkEndpoint } from "../records/catalogCheck";
import { warnOfDuplicates } from "../records/duplicates";
import type { RecordKind, Save } from "../records/recordKind";
import { refuseRename } from "../records/rename";
import { writtenBy } from "../records/write";
import { withEvidence } from "../smokeTest/evidence";
import { matchingCount, scaleDownNotes } from "./atZero";
import { ENDPOINT_INPUTS, notices } from "./endpointInputs";
import { BOUND_TEMPLATE, boundTemplateOf, endpointFields, hasOwnContainer, refusesContainer } from "./ownContainer";

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
  create: ({ client: { endpoints } }, fields, onNameTaken) =>
    endpoints.create(fields, {
      onNameTaken,
      onDuplicates: (created, others) => warnOfDuplicates("endpoint", created, others),
    }),
  update: ({ client: { endpoints } }, { id, fields, known, onSave }) =>
    endpoints.update(id, fields, { ...refuseRename("endpoint", id, fields.name), known, onSave }),
  async delete(connection, id, outputs, onAbsent) {
    const { client, capabilities } = connection;
    const notes = scaleDownNotes(writtenBy(connection, "endpoint", id), outputs, "deletion");
    const why = explainWait(client.endpoints, systemClock, id, "stop", cancelled);
    const deletion = client.endpoints.delete(id, {
      ...(deletesAtOnce(id, outputs, capabilities) && { drain: false }),
      ...(typeof outputs.drainTimeout === "number" ? { drainTimeoutMs: outputs.drainTimeout * 1000 } : {}),
      signal: cancelled,
      onProgress: drainLogger(String(outputs.name ?? id), why),
      onAbsent,
      ...notes,
      ...boundTemplateOf(outputs),
      ...(typeof outputs.templateId === "string" && { templateId: outputs.templateId }),
    });
    await withLastWords(deletion, why).catch(async (error: unknown) => {
      throw await withEvidence(error, client, id);
    });
  },
  beforeSave,
  refusesAdoption: refusesContainer,
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
 * Refuses changes that the catalog proves impossible, and adds the settings that a write needs: a
 * worker count, or all of the container or template that an unfinished write may have replaced.
 */
async function beforeSave(connection: Connection, save: Save<Endpoint>): Promise<Properties> {
  const isReplaced = Object.keys(save.open?.sent ?? {}).some((setting) => isSourceField(fieldOf(setting)));
  const source = isReplaced ? pick(flat(save.inputs), (setting) => isSourceField(fieldOf(setting))) : {};
  const added = { ...source, ...(save.purpose === "create" ? {} : await countToAdd(connection, save)) };
  const changed = Object.keys({ ...save.settings, ...added }).map(fieldOf);
  if (changed.length > 0) await checkEndpoint(connection, { ...save, changed });
  return added;
}

function isSourceField(field: string): boolean {
  return field === "templateId" || isContainerField(field);
}

async function countToAdd(
  { client }: Connection,
  { id, inputs, settings, theirs }: Save<Endpoint>,
): Promise<Properties> {
  const isAlone = Number(inputs.workersMin) > 0 && inputs.workersMax === undefined;
  const isSaved = Object.keys(settings).length > 0;
  if (!isSaved || !(isAlone || "workersMin" in settings || "workersMax" in settings)) return {};
  if ("workersMin" in settings && "workersMax" in settings) return {};
  // This reads the endpoint from a list that the update can reuse.
  const found = theirs ?? (await client.endpoints.find(id, { maxAgeMs: SHARED_LIST_MAX_AGE_MS }));
  const now = existing(found, { noun: "endpoint" }, id);
  return { ...matchingCount(now.name, now, settings, inputs) };
}
