import type { Client } from "../../sdk/client/client";
import type { Ids, Named } from "./standIn/judge";

// The only place that knows the names of a diagnosis. The scenarios know the facts only.

/** The ids of a diagnosis that stand for each row of the table. Several rows may share one. */
export const IDS: Ids = {
  1: ["no-workers-allowed"],
  2: ["not-found", "no-queue"],
  3: ["no-access"],
  4: ["workers-busy"],
  5: ["worker-quota"],
  6: ["spend-limit"],
  7: ["no-stock", "throttled", "gpu-ids"],
  8: ["cuda-version"],
  9: ["volume-place"],
  10: [],
  11: [],
  12: ["image-pull"],
  13: ["image-pulling"],
  14: ["crash-loop", "missing-secret"],
  15: ["handler-takes-no-jobs"],
  16: ["one-worker-takes-all"],
  17: ["cold-start"],
  18: ["rollout"],
  19: ["scaling-rule"],
  20: [],
  21: [],
  nothing: ["nothing-wrong", "no-job-waits"],
  unknown: ["unknown"],
};

export interface Answer {
  readonly named: readonly Named[];
  /** What every cause must have and one does not. */
  readonly lacks: readonly string[];
  /** All that the answer holds, to search it for secrets. */
  readonly text: string;
}

/** Asks for a diagnosis. */
export async function ask(client: Client, id: string, logs: boolean): Promise<Answer> {
  const diagnosis = await client.endpoints.diagnose(id, { logs });
  const { causes, others, evidence } = diagnosis;
  const named = [...causes, ...others].map((cause) => ({ id: cause.id, isCertain: cause.certainty === "certain" }));
  const isUnknown = causes.every((cause) => cause.id === "unknown");
  const lacks = [
    ...causes.filter(({ advice }) => advice.trim() === "").map((cause) => `${cause.id} does not say what to do`),
    ...(evidence.length === 0 && !isUnknown ? ["it has no evidence"] : []),
    ...(evidence.every(({ ageMs }) => ageMs >= 0) ? [] : ["it has evidence without its age"]),
  ];
  return { named, lacks, text: JSON.stringify(diagnosis) };
}
