import type { Clock } from "../../sdk/contract/clock";
import { GRAPHQL_PER_MINUTE } from "../../sdk/contract/limits";
import type { ManagementLimits } from "./rateLimits";

/** The windows of an account's rate limit, in seconds. */
const RATE_WINDOWS = { minute: 60, hour: 3600, day: 86_400 } as const;

/** The limits in the service's documentation. An account's own limits may differ. */
export const OBSERVED_LIMITS: Required<ManagementLimits> = { perMinute: 60, perHour: 3000, perDay: 50_000 };
/** The GraphQL limits that the service has announced to its customers. */
export const ANNOUNCED_GRAPHQL_LIMITS: Required<ManagementLimits> = {
  perMinute: GRAPHQL_PER_MINUTE.runpod,
  perHour: 3600,
  perDay: 43_200,
};

/** An account's rate limit. */
export interface Quota {
  /** Counts a request. Returns the response headers, and whether the request exceeds the limit. */
  count(): { readonly headers: Readonly<Record<string, string>>; readonly exceeded: string | undefined };
}

/**
 * Creates the rate limit. It uses fixed windows, each starting with its first request. Without
 * limits, responses have no rate limit headers.
 */
export function createQuota(clock: Clock, limits: ManagementLimits): Quota {
  const given = { minute: limits.perMinute, hour: limits.perHour, day: limits.perDay };
  const windows = Object.entries(RATE_WINDOWS).flatMap(([name, seconds]) => {
    const quota = given[name as keyof typeof RATE_WINDOWS];
    return quota === undefined ? [] : [{ name, seconds, quota, used: 0, endsAt: Number.NEGATIVE_INFINITY }];
  });
  const policy = windows.map(({ name, quota, seconds }) => `"${name}";q=${quota};w=${seconds}`).join(", ");

  return {
    count() {
      if (windows.length === 0) return { headers: {}, exceeded: undefined };
      const now = clock.monotonic();
      for (const window of windows) {
        if (now < window.endsAt) continue;
        window.used = 0;
        window.endsAt = now + window.seconds * 1000;
      }
      const full = windows.find(({ used, quota }) => used >= quota);
      if (!full) for (const window of windows) window.used += 1;
      const left = (endsAt: number) => Math.max(1, Math.ceil((endsAt - now) / 1000));
      const state = windows.map(
        ({ name, quota, used, endsAt }) => `"${name}";r=${Math.max(0, quota - used)};t=${left(endsAt)}`,
      );
      const headers = { ratelimit: state.join(", "), "ratelimit-policy": policy };
      return full
        ? { headers: { ...headers, "retry-after": String(left(full.endsAt)) }, exceeded: full.name }
        : { headers, exceeded: undefined };
    },
  };
}
