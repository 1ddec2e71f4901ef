import { parentPort, workerData } from "node:worker_threads";
import { play } from "../../emulator/forecast/play";
import type { RunTask, ThreadData } from "./runs";

// Simulates the runs that it receives, one after another.
const { load, assumptions } = workerData as ThreadData;

parentPort?.on("message", ({ index, endpoint, run, watched }: RunTask) => {
  parentPort?.postMessage({ index, result: play(endpoint, load, assumptions, run, watched) });
});
