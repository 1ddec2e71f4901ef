const cancellation = new AbortController();

/**
 * Aborts when the engine cancels the deployment. Reads, waits and deletions then stop; they can be
 * repeated. Creates and updates run to completion, so that state knows what they made. The engine
 * never tells dynamic providers about a cancellation.
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
