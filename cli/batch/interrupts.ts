import { say } from "../terminal";

/** How a user has stopped the command. */
interface Interrupts {
  /** Aborts at the second Ctrl-C. */
  readonly signal: AbortSignal;
  /** Calls the function at the first Ctrl-C, or at once if it was pressed already. */
  readonly onDrain: (drain: () => void) => void;
  readonly stop: () => void;
}

/**
 * Drains the batch on the first Ctrl-C and detaches on the second. A third one ends the process.
 */
export function listen(): Interrupts {
  const controller = new AbortController();
  let count = 0;
  let drain = () => {};
  const interrupt = () => {
    count++;
    if (count === 1) {
      drain();
      say(
        "\nNothing more is submitted. Waiting for the running jobs. Press Ctrl-C again to let them continue at the service",
      );
    } else {
      say("\nStopping as soon as the requests in progress have ended. The jobs continue at the service");
      stop();
      controller.abort(new Error("interrupted"));
    }
  };
  const stop = () => {
    process.removeListener("SIGINT", interrupt).removeListener("SIGTERM", interrupt);
  };
  process.on("SIGINT", interrupt).on("SIGTERM", interrupt);
  const onDrain = (callback: () => void) => {
    drain = callback;
    if (count > 0) drain();
  };
  return { signal: controller.signal, onDrain, stop };
}
