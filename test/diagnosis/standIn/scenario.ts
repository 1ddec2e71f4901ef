import type { Changes } from "./world";

/** The causes of a waiting job by their number in the table of the facts. */
export type SheetRow = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12 | 13 | 14 | 15 | 16 | 17 | 18 | 19 | 20 | 21;

/** What a diagnosis can name: a cause, that all is well, or that nothing fits. */
export type Finding = SheetRow | "nothing" | "unknown";

/** Each row in plain words. */
export const WORDS: Readonly<Record<SheetRow, string>> = {
  1: "no workers allowed",
  2: "wrong endpoint, deleted, or load-balancing",
  3: "key without the right",
  4: "all workers busy",
  5: "quota of workers used up",
  6: "spend limit or balance",
  7: "no stock in the places",
  8: "CUDA rule fits no host",
  9: "no such GPU in the volume's data center",
  10: "compliance filter",
  11: "more than three pools",
  12: "image cannot be pulled",
  13: "image is being pulled",
  14: "crash loop",
  15: "handler takes no jobs",
  16: "worker package sends all jobs to one worker",
  17: "first start",
  18: "rollout",
  19: "queue delay",
  20: "stale binding",
  21: "lost job, another symptom",
};

/** All findings. */
export const FINDINGS: readonly Finding[] = [...(Object.keys(WORDS).map(Number) as SheetRow[]), "nothing", "unknown"];

/** What a right answer has. */
export interface Expectation {
  /** At least one of these is named. */
  readonly anyOf?: readonly Finding[];
  /** All of these are named. */
  readonly mustInclude?: readonly Finding[];
  /** None of these is named. */
  readonly mustNotInclude?: readonly Finding[];
  /** The answer begins with one of these. */
  readonly first?: readonly Finding[];
  /** The answer does not begin with one of these. */
  readonly notFirst?: readonly Finding[];
  /** What the answer may call certain, and nothing else. */
  readonly mayBeCertain?: readonly Finding[];
}

/** The management interface that the client uses. */
export type Api = "graphql" | "v2";

export interface Scenario {
  readonly name: string;
  readonly state: Changes;
  /** @default both */
  readonly apis?: readonly Api[];
  /**
   * The expectation in every view. By default nothing is certain, because the facts are only sure
   * of causes 1–4 and, with a line of a log, of 12–14.
   */
  readonly expect: Expectation;
  /** What is different over GraphQL, which shows less. */
  readonly graphql?: Expectation;
  /** What is different over REST v2. */
  readonly v2?: Expectation;
  /** What is different from `v2` once lines of a log were read. */
  readonly logs?: Expectation;
  /** `true` if the cause is only in the log: an answer that may read logs must have read them. */
  readonly needsLogs?: boolean;
}

/** What the client was shown. */
export interface View {
  readonly api: Api;
  readonly sawWorkers: boolean;
  readonly sawLogs: boolean;
}

/** Returns the expectation for what the client was shown, whatever it was asked to read. */
export function expectationFor({ expect, graphql, v2, logs }: Scenario, view: View): Expectation {
  const isV2 = view.api === "v2" || view.sawWorkers;
  if (!isV2) return { ...expect, ...graphql };
  return { ...expect, ...v2, ...(view.sawLogs && logs) };
}
