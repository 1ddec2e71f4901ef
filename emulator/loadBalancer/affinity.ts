import { WORKER_ID_HEADER } from "../../sdk/contract/limits";
import type { PassedRequest } from "./httpServer";

/** The worker that a request asks for. */
export interface Affinity {
  readonly mode: "any" | "preferred" | "strict" | "strict-resume";
  readonly workerId: string;
}

/** Reads which worker a request asks for. */
export function affinityOf({ headers }: Pick<PassedRequest, "headers">): Affinity {
  const words = String(headers[WORKER_ID_HEADER] ?? "")
    .trim()
    .split(/\s+/);
  const [first = "", second] = words;
  if (first === "") return { mode: "any", workerId: "" };
  if ((first === "strict" || first === "strict-resume") && second !== undefined) {
    return { mode: first, workerId: second };
  }
  return { mode: "preferred", workerId: first };
}

/** Returns `true` if no other worker may serve the request. */
export function isStrict({ mode }: Affinity): boolean {
  return mode === "strict" || mode === "strict-resume";
}
