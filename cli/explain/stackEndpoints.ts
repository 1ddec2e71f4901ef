import { isEndpoint, readStack } from "../stack";

/**
 * Returns the ids of the endpoints in a stack's state.
 * @param stack its name; `true` for the selected one
 * @throws Error if the state cannot be read, or has no endpoint
 */
export async function stackEndpoints(stack: string | true | undefined): Promise<string[]> {
  const state = await readStack({ stack: typeof stack === "string" ? stack : undefined, timeoutMs: 60_000 });
  if ("problem" in state) throw new Error(`the stack's state cannot be read: ${state.problem}`);
  const endpoints = state.value.resources.filter(({ type }) => isEndpoint(type));
  const ids = endpoints.flatMap(({ id }) => id ?? []);
  if (ids.length === 0) throw new Error("the stack's state has no ServerlessEndpoint");
  return ids;
}
