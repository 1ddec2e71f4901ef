import type { Emulator, Handler } from "../../../emulator";
import { occupyWorker } from "../../support/heldWorker";
import { RIGHT_OUTPUT } from "./program";

/** Jobs that run until all of them are ended, and tests of releases, which end at once. */
export interface HeldJobs {
  readonly handler: Handler;
  /** Submits a job, and resolves when a worker runs it. */
  hold(emulator: Emulator, endpointId: string): Promise<void>;
  end(): void;
}

export function heldJobs(): HeldJobs {
  const running = new Set<() => void>();
  let areHeld = false;
  return {
    handler: ({ input }, { signal, imageName }) => {
      // The test of a release.
      if (JSON.stringify(input).includes("prompt")) return imageName.endsWith("wrong") ? { text: "5" } : RIGHT_OUTPUT;
      return new Promise<void>((resolve) => {
        // A job that waited for its worker while the others were ended.
        if (!areHeld) return resolve();
        running.add(resolve);
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
    },
    hold(emulator, endpointId) {
      areHeld = true;
      return occupyWorker(emulator, endpointId);
    },
    end() {
      areHeld = false;
      for (const resolve of running) resolve();
      running.clear();
    },
  };
}
