/** The part of Pulumi's runtime state that has no public accessor. */
interface RuntimeState {
  /** Set once the program has registered callbacks with the engine. Transforms are callbacks. */
  readonly callbacks?: unknown;
  /** `engineAddr` is empty in a unit test. */
  readonly settings?: { readonly options?: { readonly engineAddr?: string } };
}

/**
 * Returns the runtime state of the running program, or an empty object if Pulumi has no such
 * module.
 */
export function runtimeState(): RuntimeState {
  try {
    const state: { getStore(): RuntimeState } = require("@pulumi/pulumi/runtime/state");
    return state.getStore();
  } catch {
    return {};
  }
}
