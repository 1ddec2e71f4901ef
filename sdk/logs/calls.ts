import { pathOf } from "../records/v2Calls";
import { sendForBody } from "../transport/http";
import type { RestV2Transport } from "../transport/restV2";
import type { Attempt } from "../transport/retryingCall";
import { pathSegment, REST_V2_PATH } from "../transport/urls";

/** What a log is read from. */
export interface LogQuestion {
  readonly endpointId: string;
  readonly workerId: string;
  /** @default both */
  readonly source?: "container" | "system" | undefined;
  /** The number of earlier lines. */
  readonly tail?: number | undefined;
  /** Only lines after this time (RFC 3339). */
  readonly since?: string | undefined;
  /** The id of the last event that was read: the service goes on after it. */
  readonly lastEventId?: string | undefined;
}

/** Opens the log of a worker: its bytes, as server-sent events. */
export type OpenLog = (
  operation: string,
  question: LogQuestion,
  attempt: Attempt,
) => Promise<AsyncIterable<Uint8Array>>;

/** A silent worker sends nothing for as long as it likes, so there is no limit here. */
const NO_LIMIT_MS = 2 ** 31 - 1;

/** Returns the request over REST v2, `GET /serverless/{id}/workers/{workerId}/logs`. */
export function v2OpenLog({ http, apiKey, url }: RestV2Transport): OpenLog {
  return (operation, { endpointId, workerId, source, tail, since, lastEventId }, attempt) => {
    const path = `${pathOf({ path: "/serverless" }, endpointId)}/workers/${pathSegment("workerId", workerId)}/logs`;
    const target = new URL(url() + REST_V2_PATH + path);
    if (source !== undefined) target.searchParams.set("source", source);
    if (tail !== undefined) target.searchParams.set("tail", String(tail));
    if (since !== undefined) target.searchParams.set("since", since);
    const headers = {
      authorization: `Bearer ${apiKey.reveal()}`,
      accept: "text/event-stream",
      ...(lastEventId !== undefined && { "last-event-id": lastEventId }),
    };
    const request = { name: "workerLogs", operation, method: "GET", url: target.href, headers, attempt } as const;
    return sendForBody(http, request, NO_LIMIT_MS);
  };
}
