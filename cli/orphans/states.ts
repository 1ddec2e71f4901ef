import { type Learned, pulumiJson } from "../pulumiCommand";
import { inBackend, readStack as readState } from "../stack";
import { say } from "../terminal";
import { isResourceOf, NOUNS, type ResourceClass } from "./records";

/** The options that say whose records are not orphans. */
export interface StateFlags {
  /** Stacks, as `pulumi stack ls` names them. */
  readonly stack?: readonly string[];
  /** URLs of backends, of which all stacks count as well. */
  readonly backend?: readonly string[];
}

/** A stack, and what its state has at the service. */
export interface KnownStack {
  /** Its name as it was given or listed. */
  readonly name: string;
  /** The ids of all resources in its state, those that are to be deleted included. */
  readonly ids: ReadonlySet<string>;
  /** The ids of those that are records of the service. */
  readonly records: readonly string[];
  /** The URNs in its state, and of the operations that a run has begun and not ended. */
  readonly urns: readonly string[];
  /** The URNs of creates that a run has begun and not ended. */
  readonly unfinished: readonly string[];
}

const EXPORT_TIMEOUT_MS = 60_000;

const CLASSES = Object.keys(NOUNS) as ResourceClass[];

/**
 * Reads the states of all stacks of each backend: what one of them manages is no orphan of another.
 * @throws Error if one cannot be read: its records would look like orphans
 */
export async function readStacks(flags: StateFlags): Promise<KnownStack[]> {
  const listed = (await Promise.all(backendsOf(flags).map(stacksOf))).flat();
  const isListed = (stack: string) => listed.some(({ name, place }) => name === stack && place === undefined);
  const others = (flags.stack ?? []).filter((name) => !isListed(name)).map((name) => ({ name, place: undefined }));
  const stacks: KnownStack[] = [];
  // One after the other: each starts a process.
  for (const { name, place } of [...listed, ...others]) stacks.push(await readStack(name, place));
  return stacks;
}

/**
 * Returns the backends of which all stacks count: `undefined` is the one that `pulumi` uses here.
 */
export function backendsOf({ stack = [], backend = [] }: StateFlags): readonly (string | undefined)[] {
  return backend.length > 0 && stack.length === 0 ? backend : [undefined, ...backend];
}

async function stacksOf(place: string | undefined) {
  const stacks = await readPulumi<readonly { readonly name: string }[]>(["stack", "ls", "--all", "--json"], place);
  // A mistyped URL of a folder or a bucket is an empty backend, and everything looks like an
  // orphan.
  if (stacks.length === 0)
    say(`${place ?? "the backend that pulumi uses here"} has no stack. If it should have one, check its URL first.`);
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
    unfinished: pending.flatMap(({ type, resource }) => (type === "creating" ? [resource.urn] : [])),
  };
}

const isRecord = (urn: string) => CLASSES.some((name) => isResourceOf(urn, name));

/**
 * Runs a `pulumi` command that prints JSON.
 * @param place its backend
 * @throws Error if it fails
 */
export async function readPulumi<T>(args: readonly string[], place: string | undefined): Promise<T> {
  return found(args.join(" "), place, await pulumiJson<T>(args, process.cwd(), EXPORT_TIMEOUT_MS, inBackend(place)));
}

/** Returns what a `pulumi` command has printed. */
function found<T>(command: string, place: string | undefined, learned: Learned<T>): T {
  if ("value" in learned) return learned.value;
  const where = place === undefined ? "" : ` in ${place}`;
  throw new Error(
    `pulumi ${command}${where} failed: ${learned.problem}. Without every state, a record that a stack manages would ` +
      "look like an orphan. Nothing was listed or deleted",
  );
}
