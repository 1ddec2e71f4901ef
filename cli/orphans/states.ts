import { type LeftBehind, leftBehind } from "../leftBehind";
import { type Learned, pulumiJson } from "../pulumiCommand";
import { inBackend, readStack as readState } from "../stack";
import { say } from "../terminal";
import { CLASSES, isResourceOf } from "./records";

/** The options that select the states whose records are not orphans. */
export interface StateFlags {
  /** Stacks, as `pulumi stack ls` names them. */
  readonly stack?: readonly string[];
  /** URLs of backends. All of their stacks count as well. */
  readonly backend?: readonly string[];
}

/** A stack, and the records in its state. */
export interface KnownStack {
  /** The name as given or listed. */
  readonly name: string;
  /** The ids of all resources in the state, including those marked for deletion. */
  readonly ids: ReadonlySet<string>;
  /** The ids among them that belong to records at RunPod. */
  readonly records: readonly string[];
  /** The URNs in the state, including those of pending operations. */
  readonly urns: readonly string[];
  /** The URNs of pending creates. */
  readonly unfinished: readonly string[];
  /** The records that `deletedWith` would leave at the service. */
  readonly wouldStay: readonly LeftBehind[];
}

const EXPORT_TIMEOUT_MS = 60_000;

/**
 * Reads the states of all stacks in each backend, because a record that one stack manages is not an
 * orphan.
 * @throws Error if a state cannot be read, since its records would look like orphans
 */
export async function readStacks(flags: StateFlags): Promise<KnownStack[]> {
  const listed = (await Promise.all(backendsOf(flags).map(stacksOf))).flat();
  const isListed = (stack: string) => listed.some(({ name, place }) => name === stack && place === undefined);
  const others = (flags.stack ?? []).filter((name) => !isListed(name)).map((name) => ({ name, place: undefined }));
  const stacks: KnownStack[] = [];
  // Read one stack at a time, because each read starts a process.
  for (const { name, place } of [...listed, ...others]) stacks.push(await readStack(name, place));
  return stacks;
}

/**
 * Returns the backends in which every stack is searched. `undefined` is the backend that `pulumi`
 * uses here.
 */
export function backendsOf({ stack = [], backend = [] }: StateFlags): readonly (string | undefined)[] {
  return backend.length > 0 && stack.length === 0 ? backend : [undefined, ...backend];
}

async function stacksOf(place: string | undefined) {
  const stacks = await readPulumi<readonly { readonly name: string }[]>(["stack", "ls", "--all", "--json"], place);
  // A mistyped URL of a folder or bucket is an empty backend, in which every record looks like an
  // orphan.
  if (stacks.length === 0)
    say(`${place ?? "the backend that pulumi uses here"} contains no stacks. If it should, check its URL first.`);
  return stacks.map(({ name }) => ({ name, place }));
}

async function readStack(name: string, place: string | undefined): Promise<KnownStack> {
  const choice = { stack: name, backend: place, timeoutMs: EXPORT_TIMEOUT_MS };
  const { resources: kept, pending } = found(`stack export --stack ${name}`, place, await readState(choice));
  const resources = [...kept, ...pending.map(({ resource }) => resource)];
  return {
    name,
    ids: new Set(resources.flatMap(({ id }) => id ?? [])),
    records: resources.flatMap(({ id, urn }) => (id !== undefined && isRecord(urn) ? [id] : [])),
    urns: resources.map(({ urn }) => urn),
    wouldStay: leftBehind(kept),
    unfinished: pending.flatMap(({ type, resource }) => (type === "creating" ? [resource.urn] : [])),
  };
}

const isRecord = (urn: string) => CLASSES.some((name) => isResourceOf(urn, name));

/**
 * Runs a `pulumi` command that prints JSON.
 * @param place the backend
 * @throws Error if the command fails
 */
export async function readPulumi<T>(args: readonly string[], place: string | undefined): Promise<T> {
  return found(args.join(" "), place, await pulumiJson<T>(args, process.cwd(), EXPORT_TIMEOUT_MS, inBackend(place)));
}

/** Returns the output of a `pulumi` command. */
function found<T>(command: string, place: string | undefined, learned: Learned<T>): T {
  if ("value" in learned) return learned.value;
  const where = place === undefined ? "" : ` in ${place}`;
  throw new Error(
    `pulumi ${command}${where} failed: ${learned.problem}. Without the states of all stacks, a resource that a stack ` +
      "manages would look like an orphan. Nothing was listed or deleted",
  );
}
