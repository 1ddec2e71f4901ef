import type { DeleteProgress } from "../sdk/endpoints/deleteEndpoint";
import { redact } from "../sdk/secret";

/** Time between two lines about the same wait. */
const LINE_EVERY_MS = 10_000;

/** Writes a line that the engine shows as an info message of the stack; it begins with the endpoint's name. */
export function log(endpointName: string, text: string): void {
  console.log(redact(`${endpointName}: ${text}`));
}

/** Tells what a deletion waits for, pods or the service's consent, a line each ten seconds. */
export function drainLogger(endpointName: string): (progress: DeleteProgress) => void {
  const logWait = waitLogger(endpointName);
  return ({ phase, activePods, elapsedMs, refusal }) => {
    if (refusal !== undefined) logWait(`the service does not delete it yet, it is asked again: ${refusal}`, elapsedMs);
    if (phase !== "draining") return;
    const pods = activePods === 1 ? "1 pod" : `${activePods} pods`;
    logWait(`waiting for ${pods} to leave before it is deleted`, elapsedMs);
  };
}

/** Tells about a wait, a line each ten seconds. */
export function waitLogger(endpointName: string): (text: string, elapsedMs: number) => void {
  let toldAtMs = Number.NEGATIVE_INFINITY;
  return (text, elapsedMs) => {
    if (elapsedMs - toldAtMs < LINE_EVERY_MS) return;
    toldAtMs = elapsedMs;
    log(endpointName, `${text} (${Math.round(elapsedMs / 1000)} s)`);
  };
}
