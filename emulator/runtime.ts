import type { EndpointRecord, EndpointRuntime, RuntimeContext } from "./model";
import { createWorkerPool } from "./workers";

/**
 * Brings an endpoint to life: its workers start, and stop, as its record says.
 * @param snapshot what `snapshot()` of an earlier runtime of this endpoint returned
 */
export function createRuntime(record: EndpointRecord, context: RuntimeContext, _snapshot?: unknown): EndpointRuntime {
  const pool = createWorkerPool(record, context, () => {});

  function reconcile(): void {
    pool.shrinkToRecord();
    pool.growTo(record.workersMin);
  }

  reconcile();
  return {
    pods: () => pool.pods(),
    reconcile,
    snapshot: () => ({}),
    dispose: () => pool.dispose(),
  };
}
