import type { Api } from "../standIn/scenario";
import type { Changes } from "../standIn/world";

// A state of the service and the truth about it, written from the published facts before anybody
// who wrote it had read the rules of the diagnosis.

/** The id of a cause, as docs/troubleshooting.md lists them. */
export type Id = string;

export interface State {
  readonly name: string;
  readonly world: Changes;
  /** @default both */
  readonly apis?: readonly Api[];
  /** Reads the log over REST v2. Such a state is played over REST v2 only. @default false */
  readonly logs?: boolean;
  /** The true causes, of which an answer names one, likely or better. Empty: nobody can know. */
  readonly truth: readonly Id[];
  /** The truth that the other API cannot show. */
  readonly only?: Api;
  /** What may be certain besides `truth`. */
  readonly certain?: readonly Id[];
  /** `true` if "nothing is wrong" is right. */
  readonly calm?: boolean;
  /** What is false, and so neither likely nor certain. */
  readonly never?: readonly Id[];
  /** What no advice of a likely cause may say. */
  readonly unsaid?: RegExp;
}

/** Returns the counts of jobs in `/health`. */
export const jobs = (inQueue: number, inProgress = 0, completed = 12, failed = 0) => ({
  completed,
  failed,
  inProgress,
  inQueue,
  retried: 0,
});

/** Returns the state of an endpoint on which a job waits for a worker that does not come. */
export const idle = { jobs: jobs(2) } as const;

/** The causes that only machines with a GPU have. */
export const OF_GPUS: readonly Id[] = ["no-stock", "cuda-version", "volume-place", "gpu-ids"];

/** What an endpoint is. */
export const KINDS = {
  queue: {},
  "load balancer": { type: "LOAD_BALANCER" },
  CPU: { isCpu: true },
} as const;

/** Returns a state for a queue, a load-balancing and a CPU endpoint. Only queues have jobs. */
export function onEachKind(state: State): State[] {
  return Object.entries(KINDS).map(([kind, endpoint]) => {
    const isBalanced = kind === "load balancer";
    return {
      ...state,
      name: `${state.name} (${kind})`,
      world: {
        ...state.world,
        endpoint: { ...state.world.endpoint, ...endpoint },
        ...(isBalanced && { jobs: jobs(0) }),
      },
      certain: [...(state.certain ?? []), ...(isBalanced ? ["no-queue"] : [])],
      never: [...(state.never ?? []), ...(kind === "CPU" ? OF_GPUS : []), ...(isBalanced ? ["workers-busy"] : [])],
      ...(kind === "CPU" && { unsaid: /gpuIds|CUDA/ }),
      // A queue that cannot be seen proves no calm.
      ...(isBalanced && { calm: false }),
    };
  });
}
