import { JOB_STATES } from "../../sdk/contract/enums";
import type { HttpRequest, HttpResponse } from "../io/http";
import { oneOf, readQuery } from "../io/query";
import { asset } from "./assets";
import type { Filters } from "./changes";
import { createPast } from "./endpointChanges";
import { events } from "./events";
import type { PageOptions } from "./pageOptions";

/**
 * Returns the response to a request for the page, its files or its events; `undefined` for any
 * other request.
 */
type Page = (request: HttpRequest) => HttpResponse | undefined;

export function createPage(options: PageOptions): Page {
  const { account, context } = options;
  const past = createPast(account.endpoints, context.clock);
  context.watch.add({ endpoint: past.onChange, worker: past.moved, job() {} });
  return function page({ method, path, query, signal }) {
    if (method !== "GET") return undefined;
    const [name = "", file, ...rest] = path.split("/").slice(2);
    if (name === "" && file === undefined) return asset("index.html");
    if (name === "events" && file === undefined) return events(options, filtersOf(query), past, signal());
    return name === "page" && file !== undefined && rest.length === 0 ? asset(file) : undefined;
  };
}

function filtersOf(query: URLSearchParams): Filters {
  const given = readQuery(query, ["jobEndpoint", "jobStatus", "requestText", "requestsOnly"]);
  return {
    jobs: { endpointId: given.jobEndpoint, status: oneOf("jobStatus", given.jobStatus, JOB_STATES) },
    requests: { text: given.requestText, only: oneOf("requestsOnly", given.requestsOnly, ["errors", "faults"]) },
  };
}
