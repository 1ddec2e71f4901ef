import type { EmulatorClock } from "../time/virtualClock";
import type { HttpServer } from "./httpServer";

/** The interval between health checks, and their timeout, in milliseconds (assumed). */
const INTERVAL_MS = 1000;
const TIMEOUT_MS = 10_000;

/** A worker's state according to its last health check. */
type ServerHealth = "healthy" | "starting" | "unhealthy";

export interface HealthChecks {
  readonly isHealthy: boolean;
  /** Ends the checks. */
  stop(): void;
}

/**
 * Checks a worker's health immediately and then every second.
 * @param onChange called with the reason when the result changes
 */
export function startHealthChecks(
  clock: EmulatorClock,
  server: Pick<HttpServer, "ping">,
  onChange: (health: ServerHealth, reason: string) => void,
): HealthChecks {
  const controller = new AbortController();
  let health: ServerHealth | undefined;
  let shownReason = "";
  let cancel = () => {};

  async function check(): Promise<void> {
    const { health: now, reason } = await result(server, controller.signal);
    if (controller.signal.aborted) return;
    cancel = clock.schedule(INTERVAL_MS, start, true);
    if (now === health && reason === shownReason) return;
    health = now;
    shownReason = reason;
    onChange(now, reason);
  }

  function start(): void {
    const checking = check();
    clock.hold?.(checking);
  }

  start();
  return {
    get isHealthy() {
      return health === "healthy";
    },
    stop() {
      controller.abort();
      cancel();
    },
  };
}

async function result(server: Pick<HttpServer, "ping">, stopped: AbortSignal) {
  try {
    const status = await server.ping(AbortSignal.any([stopped, AbortSignal.timeout(TIMEOUT_MS)]));
    const reason = `the health check responded with ${status}`;
    if (status === 200) return { health: "healthy", reason } as const;
    return { health: status === 204 ? "starting" : "unhealthy", reason } as const;
  } catch {
    return { health: "unhealthy", reason: "the health check got no response" } as const;
  }
}
