import { type Learned, pulumiJson } from "./pulumiCommand";

/** The part of a type in state before the class: of the dynamic form, and of the plugin. */
export const DYNAMIC_PREFIX = "pulumi-nodejs:dynamic/serverless-gpu:";
export const PLUGIN_PREFIX = "serverless-gpu:index:";

/** The relevant part of a resource in state. */
export interface StackResource {
  readonly urn: string;
  readonly type: string;
  /** The id of its record at the service. */
  readonly id?: string;
  /** The URN and the id of its provider. */
  readonly provider?: string;
  readonly inputs?: Readonly<Record<string, unknown>>;
  readonly outputs?: Readonly<Record<string, unknown>>;
  readonly pendingReplacement?: boolean;
  /** `true` if its replacement exists, and the next run deletes it. */
  readonly delete?: boolean;
}

/** What a run had begun when it was killed, or still does. */
export interface PendingOperation {
  /** `creating`, `updating`, `deleting` … */
  readonly type: string;
  readonly resource: StackResource;
}

/** The relevant part of a stack's state. */
export interface StackState {
  readonly resources: readonly StackResource[];
  readonly pending: readonly PendingOperation[];
}

/** The value of the flag `--stack [name]`. @default the selected stack, as with `true` */
export type StackFlag = string | true | undefined;

/** Which stack's state is read, and how. */
export interface StackChoice {
  readonly stack?: StackFlag;
  /** The folder of the project. @default the working folder */
  readonly folder?: string;
  readonly timeoutMs?: number;
  /** Its backend. @default the one that `pulumi` uses here */
  readonly backend?: string | undefined;
}

/** Reads the state of a stack. */
export async function readStack({ stack, folder, timeoutMs, backend }: StackChoice): Promise<Learned<StackState>> {
  const args = ["stack", "export", ...stackFlag(stack)];
  const exported = await pulumiJson<Exported>(args, folder ?? process.cwd(), timeoutMs, inBackend(backend));
  if ("problem" in exported) return exported;
  const { resources = [], pending_operations: pending = [] } = exported.value.deployment ?? {};
  return { value: { resources, pending } };
}

interface Exported {
  readonly deployment?: {
    readonly resources?: readonly StackResource[];
    readonly pending_operations?: readonly PendingOperation[];
  };
}

/**
 * Returns the endpoints in the state of a stack in this folder.
 * @throws Error if the state cannot be read
 */
export async function stackEndpoints(stack: StackFlag): Promise<readonly StackResource[]> {
  const state = await readStack({ stack, timeoutMs: 60_000 });
  if ("problem" in state) throw new Error(`the stack's state cannot be read: ${state.problem}`);
  return state.value.resources.filter(({ type }) => isEndpoint(type));
}

/**
 * Returns the ids of the endpoints in the state of a stack in this folder.
 * @throws Error if the state cannot be read, or has no endpoint
 */
export async function stackEndpointIds(stack: StackFlag): Promise<string[]> {
  const ids = (await stackEndpoints(stack)).flatMap(({ id }) => id ?? []);
  if (ids.length === 0) throw new Error(NO_ENDPOINT);
  return ids;
}

/** The message about a stack without endpoints. */
export const NO_ENDPOINT = "the stack's state has no ServerlessEndpoint";

/** Returns the flags of `pulumi` that choose a stack. */
export function stackFlag(stack: StackFlag): string[] {
  return typeof stack === "string" ? ["--stack", stack] : [];
}

/** Returns the environment variables that choose a backend. */
export function inBackend(backend: string | undefined): Record<string, string> {
  return backend === undefined ? {} : { PULUMI_BACKEND_URL: backend };
}

/**
 * Returns the class of this package that a type in state or in a preview names, in either form:
 * `ServerlessEndpoint`. `undefined` for the types of other packages.
 */
export function classOf(type: string): string | undefined {
  const prefix = [DYNAMIC_PREFIX, PLUGIN_PREFIX].find((each) => type.startsWith(each));
  return prefix && type.slice(prefix.length);
}

/** Returns `true` for the type of an endpoint, in either form. */
export function isEndpoint(type: string): boolean {
  return classOf(type) === "ServerlessEndpoint";
}
