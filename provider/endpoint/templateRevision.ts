import { systemClock } from "../../sdk/contract/clock";
import { explainWait } from "../../sdk/diagnosis/waits";
import { ENDPOINT_DEFAULTS } from "../../sdk/endpoints/fields";
import type { Endpoint } from "../../sdk/endpoints/record";
import type { Connection } from "../connection/connection";
import { cancelled } from "../engine/cancellation";
import { log, logChange, waitLogger, withLastWords } from "../engine/log";
import type { Properties } from "../engine/properties";
import type { Situation } from "../records/recordKind";
import { writtenBy } from "../records/write";
import { scaleDownNotes } from "./atZero";

/**
 * Rolls out a changed template to the workers. The template is applied first, because the endpoint
 * may hold a copy of it. With `recycleWorkers`, all workers are replaced. Otherwise, logs that
 * there is no way to know when the workers run the new version. A new `templateId` is rolled out by
 * RunPod itself.
 * @returns the endpoint if the template was applied
 */
export async function applyRevision(
  connection: Connection,
  { id, outputs, inputs }: Situation,
): Promise<Endpoint | undefined> {
  if (!isRevised(outputs, inputs) || inputs.templateId !== outputs.templateId) return undefined;
  const { client } = connection;
  const known = { ...outputs, ...inputs };
  const applied = await client.endpoints.applyTemplate(id, String(inputs.templateId), { known });
  // Changes from before the first revision have already been rolled out, either earlier by RunPod
  // or by the call above.
  if (outputs.templateRevision === undefined) return applied;
  const name = String(inputs.name ?? outputs.name ?? id);
  if (inputs.recycleWorkers !== true) {
    log(
      name,
      "its templateRevision has changed. If its template has too, the service replaces idle workers at once and others " +
        "after their job, but does not report when that is done. A secret's new value reaches workers only when they " +
        "start. To be certain, set recycleWorkers: true",
    );
    return applied;
  }
  log(name, "its templateRevision has changed: it is scaled to zero until its workers have stopped, then restored");
  const { workersMin, workersMax } = ENDPOINT_DEFAULTS;
  const workers = {
    workersMin: Number(inputs.workersMin ?? workersMin),
    workersMax: Number(inputs.workersMax ?? workersMax),
  };
  const logWait = waitLogger(name);
  const { onScaleDown, onPutBack } = scaleDownNotes(writtenBy(connection, "endpoint", id), outputs, "recycle");
  const why = explainWait(client.endpoints, systemClock, id, "stop", cancelled);
  const recycling = client.endpoints.recycleWorkers(id, workers, {
    ...(typeof inputs.drainTimeout === "number" ? { drainTimeoutMs: inputs.drainTimeout * 1000 } : {}),
    known,
    onScaleDown,
    onPutBack,
    onProgress({ activePods, elapsedMs }) {
      const many = activePods === 1 ? "1 worker" : `${activePods} workers`;
      logWait(`waiting for ${many} to complete their jobs`, elapsedMs);
      logChange(name, why.look(elapsedMs));
    },
  });
  return withLastWords(recycling, why);
}

/** Returns `true` if the revision of the program's template differs from the last run's. */
function isRevised(outputs: Properties, inputs: Properties): boolean {
  return inputs.templateRevision !== undefined && inputs.templateRevision !== outputs.templateRevision;
}
