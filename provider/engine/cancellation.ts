const cancellation = new AbortController();

/**
 * Aborts when the engine cancels the deployment. Reads, waits and deletions stop, because they can
 * be repeated. Creates and updates run to completion, so that state contains what they made. The
 * engine never informs dynamic providers of a cancellation.
 */
export const cancelled: AbortSignal = cancellation.signal;

/** Aborts `cancelled`. */
export function cancel(): void {
  cancellation.abort(
    new Error(
      "the run was cancelled before this operation completed. What exists stays in state: run the same command again",
    ),
  );
}
