import type { Limiter } from "./limiter";
import type { ReceivedResponse } from "./responseInfo";

/**
 * The number of requests that may start while no response has reported the limits or, after a
 * window has ended, the new window.
 */
const UNKNOWN_LIMIT = 4;

/**
 * The longest wait for a window, in milliseconds. If the wait would be longer, the request is sent
 * anyway, so that the service's rejection gives the reason.
 */
const LONGEST_WAIT_MS = 120_000;

interface Window {
  /** The number of requests that may still start. */
  left: number;
  /** The number of requests in a whole window, if known. */
  quota: number;
  /** The length of the window, in milliseconds. */
  lengthMs: number;
  /**
   * When the window began, as far as known. Responses to requests that were sent before then say
   * nothing about this window.
   */
  readonly begunAt: number;
  readonly endsAt: number;
  /** `true` until a response has reported the end of the window. */
  readonly isGuess: boolean;
}

/** Keeps requests within the limits that the service reports in its responses. */
export interface RateWindows extends Limiter {
  /**
   * Reads the limits in the headers `RateLimit`, `RateLimit-Policy` and `Retry-After` of a
   * response.
   * @param sentAt the time of its request
   */
  observe(response: Pick<ReceivedResponse, "status" | "headers">, now: number, sentAt: number): void;
}

/** Creates a limiter that does not know any limits yet. */
export function createRateWindows(): RateWindows {
  const windows = new Map<string, Window>();
  let inFlight = 0;
  let closedUntil = Number.NEGATIVE_INFINITY;

  /** Returns the window with this name, or a new window if the last one has ended. */
  function current(name: string, now: number): Window | undefined {
    const window = windows.get(name);
    if (!window || now < window.endsAt) return window;
    const { quota, lengthMs } = window;
    const next = { left: quota - inFlight, quota, lengthMs, begunAt: now, endsAt: now + lengthMs, isGuess: true };
    windows.set(name, next);
    return next;
  }

  function waitMs(name: string, now: number): number {
    const { left, endsAt, isGuess } = current(name, now) as Window;
    // The window may already be used up, because other programs use the same account.
    if (isGuess && inFlight >= UNKNOWN_LIMIT) return Number.POSITIVE_INFINITY;
    return left > 0 || endsAt - now > LONGEST_WAIT_MS ? 0 : endsAt - now;
  }

  return {
    delayMs(now) {
      if (now < closedUntil) return closedUntil - now;
      if (windows.size === 0) return inFlight < UNKNOWN_LIMIT ? 0 : Number.POSITIVE_INFINITY;
      return Math.max(...Array.from(windows.keys(), (name) => waitMs(name, now)));
    },
    start() {
      inFlight++;
      for (const window of windows.values()) window.left--;
    },
    end() {
      inFlight--;
    },
    raise() {},
    closedMs: (now) => Math.max(0, closedUntil - now),
    observe({ status, headers }, now, sentAt) {
      // The service may not have counted the requests in progress yet.
      const others = Math.max(0, inFlight - 1);
      for (const { name, left, ...reported } of reportedWindows(headers)) {
        const known = current(name, now);
        if (known && sentAt < known.begunAt) continue;
        const endsAt = now + reported.leftMs;
        windows.set(name, {
          // Keep the lower number, because responses may arrive out of order.
          left: Math.min(known?.left ?? left, left - others),
          quota: reported.quota,
          lengthMs: reported.lengthMs,
          begunAt: known?.begunAt ?? sentAt,
          endsAt: known && !known.isGuess ? known.endsAt : endsAt,
          isGuess: false,
        });
      }
      const retryAfterMs = Number(headers["retry-after"]) * 1000;
      if (status === 429 && retryAfterMs > 0 && retryAfterMs <= LONGEST_WAIT_MS) closedUntil = now + retryAfterMs;
    },
  };
}

/** Returns the windows that the headers of a response report. */
function reportedWindows(headers: ReceivedResponse["headers"]) {
  const quotas = parseItems(headers["ratelimit-policy"]);
  return [...parseItems(headers.ratelimit)].flatMap(([name, { r: left, t: seconds }]) => {
    if (left === undefined || seconds === undefined) return [];
    const { q: quota = left + 1, w: length = seconds } = quotas.get(name) ?? {};
    return [{ name, left, quota, lengthMs: length * 1000, leftMs: seconds * 1000 }];
  });
}

/**
 * Returns the parameters of each item of a header such as
 * `"minute";r=57;t=41, "hour";r=2990;t=3301`.
 */
function parseItems(header: string | string[] | undefined): Map<string, Readonly<Record<string, number | undefined>>> {
  const text = Array.isArray(header) ? header.join(",") : (header ?? "");
  const items = text.split(",").flatMap((item) => {
    const [name = "", ...parameters] = item.split(";").map((part) => part.trim());
    const entries = parameters.flatMap((parameter) => {
      const [key = "", value = ""] = parameter.split("=");
      return /^\d+$/.test(value) ? [[key, Number(value)] as const] : [];
    });
    return name === "" ? [] : [[name, Object.fromEntries(entries)] as const];
  });
  return new Map(items);
}
