const cancellation = new AbortController();

/**
 * Aborts when the engine cancels the deployment. Reads, waits and deletions end then, and can be
 * repeated. Creates and updates go on to their end, so that state knows what they have made.
 * Dynamic providers are never told.
 */
export const cancelled: AbortSignal = cancellation.signal;

/** Ends everything that `cancelled` ends. */
export function cancel(): void {
  cancellation.abort(
    new Error("the run was cancelled before this was done. What exists stays in state: run the same command again"),
  );
}
