import type { OpenEnum } from "../contract/enums";
import type { Attempt, CallContext } from "../transport/call";
import { makeCall } from "../transport/makeCall";
import { type ObservedOptions, requestOptions } from "../transport/requestOptions";

/** The states of a worker in REST v2. */
const WORKER_STATES = ["RUNNING", "IDLE", "INITIALIZING", "THROTTLED", "UNHEALTHY"] as const;

/** A worker of an endpoint that has not shut down. */
export interface EndpointWorker {
  /** The id of the worker. */
  readonly id: string;
  /** The state of the worker. `undefined` over GraphQL, which does not show it. */
  readonly status: OpenEnum<(typeof WORKER_STATES)[number]> | undefined;
  /**
   * `true` if the worker runs an older release than the endpoint's current one. `undefined` if the
   * service does not show this.
   */
  readonly isStale: boolean | undefined;
}

/** A field that a release changed. */
export interface ReleaseChange {
  /** The name of the field, in the service's own format. */
  readonly field: string;
  /** The value before the release, in the service's own format. It may be or contain a secret. */
  readonly old: unknown;
  /** The value that the release set. It may be or contain a secret. */
  readonly new: unknown;
}

/** A release of an endpoint, which is the set of settings that its workers start with. */
export interface EndpointRelease {
  /** The id of the release. */
  readonly id: string;
  /** The version of the endpoint that the release created. */
  readonly version: number | undefined;
  /** What created the release: `MANUAL` or `GIT_BUILD`. Other values may occur. */
  readonly source: string | undefined;
  /** The id of the user who created the release. */
  readonly createdByUserId: string | undefined;
  /** When the release was created, in the service's own format. */
  readonly createdAt: string | undefined;
  /** The fields that the release changed. */
  readonly changes: readonly ReleaseChange[];
}

/** The maximum number of releases per request. */
const LARGEST_PAGE = 100;

/** A page of an endpoint's releases, newest first. */
interface ReleasePage {
  readonly releases: readonly EndpointRelease[];
  /** The cursor of the next page. `undefined` if this is the last page. */
  readonly next: string | undefined;
}

/** Selects a page of releases by its start and its maximum length. */
interface PageChoice {
  readonly limit: number;
  readonly cursor: string | undefined;
}

/** The requests for an endpoint's workers and releases. */
export interface ReleaseCalls {
  readonly workers: (operation: string, id: string, attempt: Attempt) => Promise<readonly EndpointWorker[]>;
  /**
   * Reads a page of an endpoint's releases.
   * @default the API does not show releases
   */
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
 * Reads the latest releases of an endpoint, page by page. Returns `undefined` if the API does not
 * show releases.
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
    // Stop after a page that contains nothing new, because the next page would be the same.
    cursor = found.size > size ? read.next : undefined;
  } while (cursor !== undefined && found.size < limit);
  return [...found.values()].slice(0, limit);
}
