import { say } from "../terminal";

/** How a user has stopped the command. */
export interface Interrupts {
  /** Aborts at the second Ctrl-C. */
  readonly signal: AbortSignal;
  /** Returns `true` after the first Ctrl-C. */
  readonly isDraining: () => boolean;
  readonly stop: () => void;
}

/**
 * Drains the batch on the first Ctrl-C and detaches on the second. A third one ends the process.
 */
export function listen(): Interrupts {
  const controller = new AbortController();
  let count = 0;
  const interrupt = () => {
    count++;
    if (count === 1) {
      say(
        "\nNothing more is submitted. Waiting for the running jobs. Press Ctrl-C again to let them continue at the service",
      );
    } else {
      say("\nStopping. The jobs continue at the service");
      stop();
      controller.abort(new Error("interrupted"));
    }
  };
  const stop = () => {
    process.removeListener("SIGINT", interrupt).removeListener("SIGTERM", interrupt);
  };
  process.on("SIGINT", interrupt).on("SIGTERM", interrupt);
  return { signal: controller.signal, isDraining: () => count > 0, stop };
}
