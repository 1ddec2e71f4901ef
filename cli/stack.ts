import type { Seed } from "../emulator";
import type { RecordClass } from "../provider/engine/resourceTypes";
import { type Learned, pulumiJson } from "./pulumiCommand";

/** The part of a type before the class name, for the dynamic provider and for the plugin. */
export const DYNAMIC_PREFIX = "pulumi-nodejs:dynamic/serverless-gpu:";
export const PLUGIN_PREFIX = "serverless-gpu:index:";

/** The lists of a client, and of an emulator's seed, with the records of each class. */
export const COLLECTIONS = {
  ServerlessEndpoint: "endpoints",
  ServerlessTemplate: "templates",
  NetworkVolume: "volumes",
  ContainerRegistryAuth: "registryAuths",
  Secret: "secrets",
} as const satisfies Readonly<Record<RecordClass, keyof Seed>>;

/** The relevant part of a resource in state. */
export interface StackResource {
  readonly urn: string;
  readonly type: string;
  /** The id of the resource's record. */
  readonly id?: string;
  /** The URN and id of the resource's provider. */
  readonly provider?: string;
  readonly inputs?: Readonly<Record<string, unknown>>;
  readonly outputs?: Readonly<Record<string, unknown>>;
  /** The URN of the resource whose deletion counts as the deletion of this one. */
  readonly deletedWith?: string;
  readonly pendingReplacement?: boolean;
  /** The inputs whose changes in the program are ignored; `*` for all of them. */
  readonly ignoreChanges?: readonly string[];
  /** `true` if the resource has been replaced and the next run deletes it. */
  readonly delete?: boolean;
}

/** An operation that a run has started and not finished. */
export interface PendingOperation {
  /** `creating`, `updating`, `deleting`, and so on. */
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

/** Which stack's state to read, and how. */
interface StackChoice {
  readonly stack?: StackFlag;
  /** The project's folder. @default the current folder */
  readonly folder?: string;
  readonly timeoutMs?: number;
  /** The backend's URL. @default the backend that `pulumi` uses here */
  readonly backend?: string | undefined;
}

/** Reads a stack's state. */
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
 * Reads the state of a stack in this folder.
 * @throws Error if the state cannot be read
 */
export async function stackState(stack: StackFlag): Promise<StackState> {
  const state = await readStack({ stack, timeoutMs: 60_000 });
  if ("problem" in state) throw new Error(`the stack's state cannot be read: ${state.problem}`);
  return state.value;
}

/**
 * Returns the endpoints in the state of a stack in this folder.
 * @throws Error if the state cannot be read
 */
export async function stackEndpoints(stack: StackFlag): Promise<readonly StackResource[]> {
  const { resources } = await stackState(stack);
  return resources.filter(({ type }) => isEndpoint(type));
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

/** Returns the environment variables that select a backend. */
export function inBackend(backend: string | undefined): Record<string, string> {
  return backend === undefined ? {} : { PULUMI_BACKEND_URL: backend };
}

/**
 * Returns the class of this package, such as `ServerlessEndpoint`, that a type in a state or
 * preview refers to; `undefined` for types of other packages. Accepts types of the dynamic provider
 * and of the plugin.
 */
export function classOf(type: string): string | undefined {
  const prefix = [DYNAMIC_PREFIX, PLUGIN_PREFIX].find((each) => type.startsWith(each));
  return prefix && type.slice(prefix.length);
}

/** Returns the resource name in a URN, which follows the stack, the project and the type. */
export const nameIn = (urn: string) => urn.split("::").slice(3).join("::");

/**
 * Returns `true` for the type of an endpoint, whether it belongs to the dynamic provider or the
 * plugin.
 */
export function isEndpoint(type: string): boolean {
  return classOf(type) === "ServerlessEndpoint";
}
