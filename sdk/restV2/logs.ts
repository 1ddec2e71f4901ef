import type { OpenLog } from "../logs/calls";
import { sendForBody } from "../transport/send";
import { pathSegment, REST_V2_PATH } from "../transport/urls";
import { pathOf } from "./requests";
import type { RestV2Transport } from "./transport";

/**
 * The idle timeout of logs is practically unlimited, because a worker that prints nothing sends no
 * data.
 */
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
