import type { CallContext } from "../transport/call";
import {
  aBoolean,
  anAbortSignal,
  checkCallOptions,
  msFrom,
  type OptionChecks,
  oneOfWords,
} from "../transport/callOptions";
import { pathSegment } from "../transport/urls";
import { decideCauses } from "./decide";
import { seen } from "./evidence";
import { createGather, type Sources } from "./gather";
import type { DiagnoseOptions, Diagnosis } from "./record";
import { inText, summaryOf } from "./words";

/** Finds out why jobs or workers are waiting. */
export interface Diagnoses {
  /**
   * Diagnoses why an endpoint's jobs or workers are waiting, as far as the service shows it. The
   * result contains the cause to fix first (or several causes if they cannot be told apart), the
   * evidence and its age, and advice. A diagnosis changes nothing. It reads each part once, for at
   * most 5 s; parts that it cannot read are listed in `missing`.
   *
   * Over REST v2, it reads `GET /v2/serverless/{id}`, `…/workers`, `…/releases?limit=1`, and from
   * the queue `GET /v2/{id}/health`. Over GraphQL, it reads `myself { endpoint(id) { … pods } }`
   * instead of the first three. While something waits, it also reads the limits (`GET
   * /v2/account/limits`, or `myself`) and the first page of the endpoints. If the endpoint's
   * variables refer to secrets, it reads the names of the secrets. If another worker is needed, it
   * reads the stock (`GET /v2/catalog/gpus` with `include=AVAILABILITY&product=SERVERLESS`; over
   * GraphQL `gpuTypes` and `serverlessGpuPools`) and the data centers of the endpoint's network
   * volumes. With `logs`, it reads `GET
   * /v2/serverless/{id}/workers/{workerId}/logs` for up to three workers.
   * @throws InvalidInputError if the id cannot be part of a path; nothing was sent
   * @example
   * const { causes, certainty } = await client.endpoints.diagnose("abc");
   * console.log(certainty, causes.map(({ words, advice }) => `${words}. ${advice}`));
   */
  diagnose(endpointId: string, options?: DiagnoseOptions): Promise<Diagnosis>;
}

const DIAGNOSE_OPTIONS: OptionChecks<DiagnoseOptions> = {
  awaited: oneOfWords("jobs", "workers", "stop"),
  waitedMs: msFrom(0),
  logs: aBoolean,
  signal: anAbortSignal,
};

/** The number of log lines that a diagnosis shows. */
const SHOWN_LINES = 3;

/** Creates the diagnoses of one account. */
export function createDiagnoses(context: CallContext, sources: Sources): Diagnoses {
  const gather = createGather(context, sources);
  return {
    async diagnose(endpointId, options = {}) {
      checkCallOptions(options, DIAGNOSE_OPTIONS);
      const evidence = await gather(pathSegment("endpointId", endpointId), options);
      const decision = decideCauses(evidence, endpointId);
      const lines = (seen(evidence.logs) ?? []).flatMap((log) => log.lines);
      return {
        ...{ endpointId, endpointName: seen(evidence.endpoint)?.name, awaited: evidence.awaited },
        ...decision,
        ...inText(evidence),
        lines: [...lines].sort((one, other) => one.ts.localeCompare(other.ts)).slice(-SHOWN_LINES),
        summary: summaryOf(decision),
        madeAt: new Date(evidence.now),
      };
    },
  };
}
