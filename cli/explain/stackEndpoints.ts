import { pulumiJson } from "../pulumiCommand";

/** The types of an endpoint in state: of the dynamic form, and of the plugin. */
const ENDPOINT_TYPE = /serverless-gpu:(?:\w+:)?ServerlessEndpoint$/;

interface Exported {
  readonly deployment?: {
    readonly resources?: readonly { readonly type: string; readonly id?: string; readonly delete?: boolean }[];
  };
}

/**
 * Returns the ids of the endpoints in a stack's state.
 * @param stack its name; `true` for the selected one
 * @throws Error if the state cannot be read, or has no endpoint
 */
export async function stackEndpoints(stack: string | true | undefined): Promise<string[]> {
  const args = ["stack", "export", ...(typeof stack === "string" ? ["--stack", stack] : [])];
  const state = await pulumiJson<Exported>(args, process.cwd(), 60_000);
  if ("problem" in state) throw new Error(`the stack's state cannot be read: ${state.problem}`);
  const endpoints = (state.value.deployment?.resources ?? []).filter(({ type }) => ENDPOINT_TYPE.test(type));
  const ids = endpoints.flatMap(({ id }) => id ?? []);
  if (ids.length === 0) throw new Error("the stack's state has no ServerlessEndpoint");
  return ids;
}
