import type { OpenEnum } from "../contract/enums";
import type { Attempt, CallContext } from "../transport/call";
import { makeCall } from "../transport/makeCall";
import { type ObservedOptions, requestOptions } from "../transport/requestOptions";

/** The states of a worker in REST v2. */
const WORKER_STATES = ["RUNNING", "IDLE", "INITIALIZING", "THROTTLED", "UNHEALTHY"] as const;

/** A worker of an endpoint that has not shut down. */
export interface EndpointWorker {
  /** Id of the worker. */
  readonly id: string;
  /** `undefined` over GraphQL, which does not show it. */
  readonly status: OpenEnum<(typeof WORKER_STATES)[number]> | undefined;
  /**
   * `true` if it runs an older release than the endpoint has. `undefined` if the service does not
   * show that.
   */
  readonly isStale: boolean | undefined;
}

/** One field that a release changed. */
export interface ReleaseChange {
  /** The name of the field, as the service writes it. */
  readonly field: string;
  /** The value before, as the service writes it. It may be or contain a secret. */
  readonly old: unknown;
  /** The value of the release. It may be or contain a secret. */
  readonly new: unknown;
}

/** A release of an endpoint: the settings with which its workers start. */
export interface EndpointRelease {
  /** Id of the release. */
  readonly id: string;
  /** The version of the endpoint that it made. */
  readonly version: number | undefined;
  /** What made it: `MANUAL` or `GIT_BUILD`; other words may occur. */
  readonly source: string | undefined;
  /** The user who made it. */
  readonly createdByUserId: string | undefined;
  /** The time when it was made, as the service writes it. */
  readonly createdAt: string | undefined;
  /** The fields that it changed. */
  readonly changes: readonly ReleaseChange[];
}

/** The largest number of releases that one request asks for. */
const LARGEST_PAGE = 100;

/** A part of the releases of an endpoint, the newest first. */
interface ReleasePage {
  readonly releases: readonly EndpointRelease[];
  /** The cursor of the next page. `undefined`: this is the last one. */
  readonly next: string | undefined;
}

/** Where a page of releases begins, and how many it has at most. */
interface PageChoice {
  readonly limit: number;
  readonly cursor: string | undefined;
}

/** The requests for the workers and releases of an endpoint. */
export interface ReleaseCalls {
  readonly workers: (operation: string, id: string, attempt: Attempt) => Promise<readonly EndpointWorker[]>;
  /** @default the interface shows none */
  readonly releases?: (operation: string, id: string, page: PageChoice, attempt: Attempt) => Promise<ReleasePage>;
}

/** Reads the workers of an endpoint that have not shut down. */
export function readWorkers(
  context: CallContext & { readonly calls: ReleaseCalls },
  endpointId: string,
  options: ObservedOptions,
): Promise<readonly EndpointWorker[]> {
  const operation = `the workers of endpoint ${endpointId}`;
  const attempt = (each: Attempt) => context.calls.workers(operation, endpointId, each);
  const call = { name: "listWorkers", operation, repeatability: "safe", attempt } as const;
  return makeCall(context, { ...requestOptions(options), ...call });
}

/**
 * Reads the latest releases of an endpoint, page by page; none where the interface shows none.
 */
export async function readReleases(
  context: CallContext & { readonly calls: ReleaseCalls },
  endpointId: string,
  { limit = 20, ...options }: ObservedOptions & { readonly limit?: number | undefined },
): Promise<readonly EndpointRelease[] | undefined> {
  const { releases } = context.calls;
  if (!releases) return undefined;
  const operation = `the releases of endpoint ${endpointId}`;
  const found = new Map<string, EndpointRelease>();
  let cursor: string | undefined;
  do {
    const page = { limit: Math.min(limit - found.size, LARGEST_PAGE), cursor };
    const attempt = (each: Attempt) => releases(operation, endpointId, page, each);
    const call = { name: "listReleases", operation, repeatability: "safe", attempt } as const;
    const read = await makeCall(context, { ...requestOptions(options), ...call });
    const { size } = found;
    for (const release of read.releases) found.set(release.id, release);
    // A page without anything new would be followed by the same one.
    cursor = found.size > size ? read.next : undefined;
  } while (cursor !== undefined && found.size < limit);
  return [...found.values()].slice(0, limit);
}
