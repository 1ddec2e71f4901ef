import type { Api } from "../runExplain";
import type { Line, Worker, World } from "../world";

/** One state of an endpoint, and what is true of it. */
export interface State {
  readonly title: string;
  readonly world: World;
  /** The true causes that the evidence shows: any of them, likely or better, is right. */
  readonly causes: readonly string[];
  /** Further ids that are no mistake if they are named likely. */
  readonly fine?: readonly string[];
  /** The ids that the service's own statement proves. */
  readonly proven?: readonly string[];
  /** "Nothing is wrong" may be said. */
  readonly calm?: true;
  /** What GraphQL shows of it: "hides" the evidence of the causes, or does not have this state. */
  readonly graphql?: "hides" | "none";
  /** Only GraphQL has this state. */
  readonly v2?: "hides" | "none";
  /** What no advice for a likely cause may say. */
  readonly never?: RegExp;
}

export const apisOf = ({ graphql, v2 }: State): Api[] => [
  ...(v2 === "none" ? [] : (["v2"] as const)),
  ...(graphql === "none" ? [] : (["graphql"] as const)),
];

export const shows = (state: State, api: Api): boolean => state[api] !== "hides";

export const system = (ago: number, text: string): Line => [ago, "system", text];
export const container = (ago: number, text: string): Line => [ago, "container", text];

export const STARTING = "--- Starting Serverless Worker |  Version 1.7.13 ---";

/** A Python program that ends with an error, `ago` seconds ago. */
export function traceback(ago: number, error = "ModuleNotFoundError: No module named 'vllm'"): Line[] {
  return [
    container(ago, "Traceback (most recent call last):"),
    container(ago, '  File "/app/handler.py", line 3, in <module>'),
    container(ago, "    import vllm"),
    container(ago, error),
  ];
}

export const starts = (...agos: number[]): Line[] =>
  agos.map((ago) => system(ago, "start container for me/llama:3: begin"));

/** As many jobs that wait. */
export const waiting = (inQueue: number, inProgress = 0) => ({ inQueue, inProgress });

export const FULL_GPU_ADVICE = /gpuIds|GPU pool|minCudaVersion|CUDA/;

/** One worker with this log, and two jobs that wait. */
export const waits = (log: readonly Line[], worker: Partial<Worker> = {}, world: World = {}): World => ({
  jobs: waiting(2),
  max: 1,
  ...world,
  workers: [{ id: "a", status: "INITIALIZING", up: 100, ...worker, log }],
});

/** Three starts, each of which ends in a traceback. */
export const LOOP = [90, 60, 30].flatMap((ago) => [...starts(ago), ...traceback(ago - 10)]);
