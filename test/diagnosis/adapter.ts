import type { Client } from "../../sdk/client";
import { AuthenticationError, NotFoundError } from "../../sdk/errors";
import type { Ids, Named } from "./standIn/judge";

// The only place that knows the names of a diagnosis. The scenarios know the facts only.

/** The ids of a diagnosis that stand for each row of the table. Several rows may share one. */
export const IDS: Ids = {
  1: ["no-workers-allowed"],
  2: ["wrong-endpoint"],
  3: ["no-permission"],
  4: ["workers-busy"],
  5: ["worker-quota"],
  6: ["spend-limit"],
  7: ["no-stock"],
  8: ["cuda"],
  9: ["volume-place"],
  10: ["compliance"],
  11: ["too-many-pools"],
  12: ["image-pull"],
  13: ["image-pulling"],
  14: ["crash-loop"],
  15: ["takes-no-jobs"],
  16: ["one-worker-takes-all"],
  17: ["first-start"],
  18: ["roll-out"],
  19: ["queue-delay"],
  20: ["stale-binding"],
  21: ["lost-job"],
  nothing: ["nothing-wrong"],
  unknown: ["unknown"],
};

export interface Answer {
  readonly named: readonly Named[];
  /** What every cause must have and one does not. */
  readonly lacks: readonly string[];
  /** All that the answer holds, to search it for secrets. */
  readonly text: string;
}

/** The parts of a diagnosis that are judged. */
interface Diagnosis {
  readonly causes: readonly {
    readonly id: string;
    readonly confidence: string;
    /** What was seen, and when. */
    readonly evidence: readonly { readonly ageMs: number }[];
    /** What to do. */
    readonly advice: string;
  }[];
}

type Diagnose = (id: string, options: { readonly logs: boolean }) => Promise<Diagnosis>;

/** Returns the function that is judged, or `undefined` if the client has none. */
export function diagnoseOf(client: Client): Diagnose | undefined {
  const endpoints = client.endpoints as Client["endpoints"] & { readonly diagnose?: Diagnose };
  return endpoints.diagnose?.bind(endpoints);
}

/** Asks for a diagnosis. An error that is itself the answer counts as one. */
export async function ask(client: Client, id: string, logs: boolean): Promise<Answer> {
  try {
    const diagnosis = await diagnoseOf(client)?.(id, { logs });
    if (!diagnosis) throw new Error("the client has no endpoints.diagnose");
    const named = diagnosis.causes.map((cause) => ({ id: cause.id, isCertain: cause.confidence === "certain" }));
    const lacks = diagnosis.causes.flatMap(({ id, evidence, advice }) => [
      ...(advice.trim() === "" ? [`${id} does not say what to do`] : []),
      ...(evidence.length === 0 && id !== "unknown" ? [`${id} has no evidence`] : []),
      ...(evidence.every(({ ageMs }) => ageMs >= 0) ? [] : [`${id} has evidence without its age`]),
    ]);
    return { named, lacks, text: JSON.stringify(diagnosis) };
  } catch (error) {
    if (error instanceof NotFoundError) return { named: named(2), lacks: [], text: String(error) };
    if (error instanceof AuthenticationError) return { named: named(3), lacks: [], text: String(error) };
    throw error;
  }
}

/** A refused read leaves no doubt. */
function named(row: 2 | 3): Named[] {
  return IDS[row].slice(0, 1).map((id) => ({ id, isCertain: true }));
}
