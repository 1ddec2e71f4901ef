import { availableParallelism } from "node:os";
import path from "node:path";
import { Worker } from "node:worker_threads";
import type { Assumptions, PlayedEndpoint, Watched } from "../../emulator/forecast/assumptions";
import type { Load } from "../../emulator/forecast/load";
import type { RunResult } from "../../emulator/forecast/play";
import { packageRoot } from "../../sdk/contract/packageRoot";

/** The data that all runs share. */
export interface ThreadData {
  readonly load: Load;
  readonly assumptions: Assumptions;
}

/** The settings to simulate, and the part of the load to count separately. */
export interface PlayedSide {
  readonly endpoint: PlayedEndpoint;
  readonly watched?: Watched | undefined;
}

/** One run of one side. */
export interface RunTask extends PlayedSide {
  readonly index: number;
  readonly run: number;
}

/** Large enough that few of a run's short-lived objects survive a garbage collection. */
const YOUNG_GENERATION_MB = 192;

/**
 * Simulates each side `seeds` times, on all cores. Resolves to the runs of each side, in order.
 * @param onProgress called after each run
 */
export async function playAll(
  sides: readonly PlayedSide[],
  seeds: number,
  data: ThreadData,
  onProgress: (done: number, all: number) => void,
): Promise<RunResult[][]> {
  const tasks = sides.flatMap((side, at) =>
    Array.from({ length: seeds }, (_, run) => ({ index: at * seeds + run, ...side, run })),
  );
  const results = new Array<RunResult>(tasks.length);
  const next = tasks[Symbol.iterator]();
  let done = 0;
  const onResult = (index: number, result: RunResult) => {
    results[index] = result;
    done += 1;
    onProgress(done, tasks.length);
  };
  const threads = Array.from({ length: Math.min(availableParallelism(), tasks.length) }, () =>
    work(data, next, onResult),
  );
  await Promise.all(threads);
  return sides.map((_, at) => results.slice(at * seeds, (at + 1) * seeds));
}

/** Runs a worker thread until no tasks are left. */
function work(
  workerData: ThreadData,
  tasks: Iterator<RunTask>,
  onResult: (index: number, result: RunResult) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const resourceLimits = { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB };
    const thread = new Worker(path.join(packageRoot(), "dist/cli/forecast/runThread.js"), {
      workerData,
      resourceLimits,
    });
    const give = () => {
      const { value, done } = tasks.next();
      if (!done) return thread.postMessage(value);
      void thread.terminate().then(() => resolve());
    };
    thread.on("error", reject);
    thread.on("message", ({ index, result }: { index: number; result: RunResult }) => {
      onResult(index, result);
      give();
    });
    give();
  });
}
