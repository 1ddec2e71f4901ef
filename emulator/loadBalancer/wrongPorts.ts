import { LOAD_BALANCER_MS } from "../../sdk/contract/limits";
import type { EmulatorClock } from "../time/virtualClock";
import type { WorkerContainer } from "../workers/container";
import type { HttpServer } from "./httpServer";

/**
 * Returns the first port of a worker that its container does not expose. If neither variable is
 * set, the service sets and exposes port 80 itself.
 */
export function closedPort({ env, ports }: Pick<WorkerContainer, "env" | "ports">): string | undefined {
  const wanted = [env.PORT, env.PORT_HEALTH].filter((port) => port !== undefined);
  return wanted.find((port) => !ports.includes(`${port}/http`));
}

/** A server that the service cannot reach. */
export const UNREACHABLE: HttpServer = {
  respond: () => Promise.reject(new Error("the worker's port is not exposed")),
  ping: () => Promise.resolve(200),
};

/**
 * Calls a function when the service would end a worker with wrong ports. Returns a function that
 * cancels the call.
 */
export function endWithWrongPorts(clock: EmulatorClock, end: () => void): () => void {
  return clock.schedule(LOAD_BALANCER_MS.wrongPorts, end, true);
}
