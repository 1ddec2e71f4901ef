import * as z from "zod";
import type { ReleaseCalls } from "../endpoints/releases";
import { UnexpectedResponseError } from "../errors";
import { decode } from "../transport/decode";
import { flag, number, text } from "../transport/looseFields";
import { pathOf } from "./requests";
import { type RestV2Transport, requestV2 } from "./transport";

const id = z.union([z.string(), z.number().transform(String)]);

const workersSchema = z.looseObject({
  workers: z.array(
    z.looseObject({ id, status: text, isStale: flag }).transform((worker) => ({
      id: worker.id,
      status: worker.status ?? "RUNNING",
      isStale: worker.isStale,
    })),
  ),
});

const releasesSchema = z.looseObject({
  releases: z.array(
    z
      .looseObject({
        ...{ id, version: number, source: text, createdByUserId: text, createdAt: text },
        diff: z
          .array(z.looseObject({ field: z.string(), old: z.unknown(), new: z.unknown() }))
          .nullish()
          .catch(undefined),
      })
      .transform(({ id, version, source, createdByUserId, createdAt, diff }) => ({
        ...{ id, version, source, createdByUserId, createdAt },
        changes: (diff ?? []).map((each) => ({ field: each.field, old: each.old, new: each.new })),
      })),
  ),
});

const pageSchema = z.looseObject({
  pagination: z.looseObject({ nextCursor: z.string().nullish(), hasNextPage: z.boolean().nullish() }).nullish(),
});

/** Returns the requests over REST v2. */
export function v2ReleaseCalls(transport: RestV2Transport): Required<ReleaseCalls> {
  const path = (endpointId: string) => pathOf({ path: "/serverless" }, endpointId);
  return {
    async workers(operation, endpointId, attempt) {
      const request = { name: "listWorkers", operation, method: "GET", path: `${path(endpointId)}/workers` } as const;
      return decode(workersSchema, await requestV2(transport, request, attempt), operation).workers;
    },
    async releases(operation, endpointId, { limit, cursor }, attempt) {
      const query: Record<string, string> = { limit: String(limit), ...(cursor !== undefined && { cursor }) };
      const request = {
        ...({ name: "listReleases", operation, method: "GET" } as const),
        ...{ path: `${path(endpointId)}/releases`, query },
      };
      const response = await requestV2(transport, request, attempt);
      const { nextCursor, hasNextPage } = decode(pageSchema, response, operation).pagination ?? {};
      if (hasNextPage && (!nextCursor || nextCursor === cursor)) {
        throw new UnexpectedResponseError(
          `${operation}: the service shows a next page, but no cursor for it. Try again later`,
        );
      }
      const next = hasNextPage === false ? undefined : nextCursor || undefined;
      return { releases: decode(releasesSchema, response, operation).releases, next };
    },
  };
}
