import * as z from "zod";
import type { ReleaseCalls } from "../endpoints/releases";
import { UnexpectedResponseError } from "../errors/errors";
import type { Attempt } from "../transport/call";
import { decode } from "../transport/decode";
import { looseFlag, looseNumber, loosePart, looseText } from "../transport/looseFields";
import { pageSchema, pathOf } from "./requests";
import { type RestV2Transport, requestV2 } from "./transport";

const id = z.union([z.string(), z.number().transform(String)]);

const workerSchema = z.looseObject({
  id,
  status: looseText,
  isStale: looseFlag,
  uptimeSeconds: looseNumber,
  startedAt: looseText,
});

/** The workers of an endpoint. */
export const workersSchema = z.looseObject({ workers: z.array(workerSchema) });

/**
 * The workers as a diagnosis reads them. Fields may be missing, because a diagnosis has to use
 * whatever is available.
 */
export const countedWorkersSchema = z.looseObject({
  workers: z.array(workerSchema).nullish(),
  summary: loosePart({
    running: looseNumber,
    idle: looseNumber,
    initializing: looseNumber,
    throttled: looseNumber,
    unhealthy: looseNumber,
  }),
});

const release = {
  version: looseNumber,
  source: looseText,
  createdByUserId: looseText,
  createdAt: looseText,
  diff: z
    .array(z.looseObject({ field: z.string(), old: z.unknown(), new: z.unknown() }))
    .nullish()
    .catch(undefined),
};

const releasesSchema = pageSchema.extend({ releases: z.array(z.looseObject({ id, ...release })) });

/** The releases as a diagnosis reads them, with the rollout of the latest release. */
export const rolloutSchema = z.looseObject({
  rollout: loosePart({ inProgress: looseFlag, workersOnLatest: looseNumber, workersTotal: looseNumber }),
  releases: z.array(z.looseObject(release)).nullish().catch(undefined),
});

/** Requests the workers of an endpoint: `GET /serverless/{id}/workers`. */
export async function getWorkers<T>(
  transport: RestV2Transport,
  schema: z.ZodType<T>,
  operation: string,
  endpointId: string,
  attempt: Attempt,
): Promise<T> {
  const path = `${pathOf({ path: "/serverless" }, endpointId)}/workers`;
  const response = await requestV2(transport, { name: "listWorkers", operation, method: "GET", path }, attempt);
  return decode(schema, response, operation);
}

/** Requests the latest releases of an endpoint: `GET /serverless/{id}/releases`. */
export async function getReleases<T>(
  transport: RestV2Transport,
  schema: z.ZodType<T>,
  operation: string,
  endpointId: string,
  query: Readonly<Record<string, string>>,
  attempt: Attempt,
): Promise<T> {
  const path = `${pathOf({ path: "/serverless" }, endpointId)}/releases`;
  const response = await requestV2(transport, { name: "listReleases", operation, method: "GET", path, query }, attempt);
  return decode(schema, response, operation);
}

/** Returns the requests over REST v2. */
export function v2ReleaseCalls(transport: RestV2Transport): Required<ReleaseCalls> {
  return {
    async workers(operation, endpointId, attempt) {
      const { workers } = await getWorkers(transport, workersSchema, operation, endpointId, attempt);
      return workers.map(({ id, status = "RUNNING", isStale }) => ({ id, status, isStale }));
    },
    async releases(operation, endpointId, { limit, cursor }, attempt) {
      const query = { limit: String(limit), ...(cursor !== undefined && { cursor }) };
      const page = await getReleases(transport, releasesSchema, operation, endpointId, query, attempt);
      const { nextCursor, hasNextPage } = page.pagination ?? {};
      if (hasNextPage && (!nextCursor || nextCursor === cursor)) {
        throw new UnexpectedResponseError(
          `${operation}: the service shows a next page, but no cursor for it. Try again later`,
        );
      }
      const releases = page.releases.map(({ id, version, source, createdByUserId, createdAt, diff }) => ({
        id,
        version,
        source,
        createdByUserId,
        createdAt,
        changes: (diff ?? []).map((each) => ({ field: each.field, old: each.old, new: each.new })),
      }));
      return { releases, next: hasNextPage === false ? undefined : nextCursor || undefined };
    },
  };
}
