import { z } from "zod";
import { validate } from "../io/validate";

/** The state of an account in two parts, as plain JSON. */
export interface AccountSnapshot {
  /** Everything except records. */
  readonly head: Readonly<Record<string, unknown>>;
  /** The records by kind. */
  readonly lists: Readonly<Record<string, readonly unknown[]>>;
}

/** Reads the state to save. */
export interface StateSource {
  /** Returns the state. Omits jobs if `withJobs` is `false`. */
  snapshot(withJobs: boolean): AccountSnapshot;
  /**
   * Returns an endpoint's runtime with some or all of its jobs; `undefined` if the endpoint does
   * not exist.
   */
  runtime(
    endpointId: string,
    jobIds: ReadonlySet<string> | undefined,
  ): { readonly jobs: readonly object[] } | undefined;
}

/** Tracks what has changed since the state was last written. */
export interface StateChanges {
  /**
   * Must be called at every change. Pass a job that was added, changed or deleted, an endpoint
   * whose jobs are all new, or nothing for any other change.
   */
  changed(endpointId?: string, jobId?: string): void;
  /** Returns the whole state as one line. */
  whole(): string;
  /** Returns what has changed since the last call of either function, as one line. */
  latest(): string;
}

const itemSchema = z.looseObject({
  id: z.string().optional(),
  record: z.looseObject({ id: z.string() }).optional(),
  runtime: z.looseObject({ jobs: z.array(z.looseObject({ id: z.string() })) }).optional(),
});
type Item = z.infer<typeof itemSchema>;
const itemsSchema = z.array(itemSchema);

/** A line of a data file after the first. */
const changeSchema = z.strictObject({
  head: z.looseObject({}).optional(),
  /** New and changed records. The jobs of an endpoint are in `runtimes`. */
  lists: z.record(z.string(), itemsSchema).optional(),
  /** The ids of deleted records. */
  removed: z.record(z.string(), z.array(z.string())).optional(),
  /** The runtimes of endpoints, with new, changed and deleted jobs. */
  runtimes: z
    .array(
      z.strictObject({
        endpointId: z.string(),
        /** `true` if `runtime` contains all jobs. */
        complete: z.boolean(),
        runtime: z.looseObject({ jobs: z.array(z.looseObject({ id: z.string() })) }),
        gone: z.array(z.string()),
      }),
    )
    .optional(),
});
type SavedChange = z.infer<typeof changeSchema>;

/**
 * Jobs are tracked individually, because there can be many. Records are compared with their last
 * written form, so that no change can be missed.
 */
export function createStateChanges(source: StateSource): StateChanges {
  const changedJobs = new Map<string, Set<string> | "all">();
  let written = new Map<string, string>();
  let recordsChanged = false;

  function forgetChanges(): void {
    changedJobs.clear();
    recordsChanged = false;
  }

  function changedRecords(): Pick<SavedChange, "head" | "lists" | "removed"> {
    const { head, lists } = source.snapshot(false);
    const now = textsOf(lists);
    const changedLists = Object.entries(lists).map(([name, items]) => [
      name,
      items.filter((item) => written.get(keyOf(name, item)) !== now.get(keyOf(name, item))),
    ]);
    const removed: Record<string, string[]> = {};
    for (const key of written.keys()) {
      if (now.has(key)) continue;
      const [name, id] = JSON.parse(key) as [string, string];
      removed[name] = [...(removed[name] ?? []), id];
    }
    written = now;
    return { head, lists: Object.fromEntries(changedLists), removed };
  }

  function changedRuntimes(): NonNullable<SavedChange["runtimes"]> {
    return [...changedJobs].flatMap(([endpointId, jobs]) => {
      const ids = jobs === "all" ? undefined : jobs;
      const runtime = source.runtime(endpointId, ids) as { jobs: { id: string }[] } | undefined;
      if (!runtime) return [];
      const kept = new Set(runtime.jobs.map(({ id }) => id));
      return [{ endpointId, complete: !ids, runtime, gone: [...(ids ?? [])].filter((id) => !kept.has(id)) }];
    });
  }

  return {
    changed(endpointId, jobId) {
      if (endpointId === undefined) recordsChanged = true;
      else if (jobId === undefined) changedJobs.set(endpointId, "all");
      else {
        const ids = changedJobs.get(endpointId) ?? new Set();
        if (ids !== "all") changedJobs.set(endpointId, ids.add(jobId));
      }
    },
    whole() {
      const { head, lists } = source.snapshot(true);
      written = textsOf(source.snapshot(false).lists);
      forgetChanges();
      return `${JSON.stringify({ ...head, ...lists })}\n`;
    },
    latest() {
      const change: SavedChange = { ...(recordsChanged && changedRecords()), runtimes: changedRuntimes() };
      forgetChanges();
      return `${JSON.stringify(change)}\n`;
    },
  };
}

/**
 * Reads the state in a data file. The first line is the whole state, and each other line is a
 * change. An incomplete last line was cut off by a kill, and nothing in it was confirmed.
 * @throws SyntaxError if the text is not JSON
 * @throws TypeError if a change is malformed
 */
export function readSavedState(text: string): unknown {
  const [first = "", ...changes] = text.split("\n");
  let state: unknown;
  try {
    state = JSON.parse(first);
  } catch {
    // The file may have been formatted by hand.
    return JSON.parse(text);
  }
  const complete = changes.slice(0, -1);
  return complete.length > 0 ? replay(state, complete) : state;
}

function replay(state: unknown, lines: readonly string[]): unknown {
  const fields = validate(z.looseObject({}), state, "Its first line") as Record<string, unknown>;
  const lists = new Map<string, Map<string, Item>>();
  const jobs = new Map<string, Map<string, object>>();

  function listOf(name: string): Map<string, Item> {
    const items = lists.get(name) ?? new Map();
    if (lists.has(name)) return items;
    for (const item of validate(itemsSchema, fields[name] ?? [], `Its list "${name}"`)) items.set(idOf(item), item);
    lists.set(name, items);
    return items;
  }

  function jobsOf(endpointId: string): Map<string, object> {
    const saved = listOf("endpoints").get(endpointId)?.runtime?.jobs ?? [];
    const known = jobs.get(endpointId) ?? new Map(saved.map((job) => [job.id, job]));
    jobs.set(endpointId, known);
    return known;
  }

  function applyRecords({ head = {}, lists: changed = {}, removed = {} }: SavedChange): void {
    Object.assign(fields, head);
    for (const [name, ids] of Object.entries(removed)) {
      for (const id of ids) {
        listOf(name).delete(id);
        if (name === "endpoints") jobs.delete(id);
      }
    }
    for (const [name, items] of Object.entries(changed)) {
      for (const item of items) {
        if (name === "endpoints") jobsOf(idOf(item));
        listOf(name).set(idOf(item), item);
      }
    }
  }

  function applyRuntimes({ runtimes = [] }: SavedChange): void {
    for (const { endpointId, complete, runtime, gone } of runtimes) {
      const known = jobsOf(endpointId);
      if (complete) known.clear();
      for (const id of gone) known.delete(id);
      for (const job of runtime.jobs) known.set(job.id, job);
      Object.assign(listOf("endpoints").get(endpointId)?.runtime ?? {}, runtime);
    }
  }

  for (const [index, line] of lines.entries()) {
    const change = validate(changeSchema, JSON.parse(line), `Its line ${index + 2}`);
    applyRecords(change);
    applyRuntimes(change);
  }
  for (const [id, known] of jobs)
    Object.assign(listOf("endpoints").get(id)?.runtime ?? {}, { jobs: [...known.values()] });
  for (const [name, items] of lists) fields[name] = [...items.values()];
  return fields;
}

function idOf({ id, record }: Item): string {
  return record?.id ?? id ?? "";
}

function keyOf(list: string, item: unknown): string {
  return JSON.stringify([list, idOf(item as Item)]);
}

function textsOf(lists: AccountSnapshot["lists"]): Map<string, string> {
  const texts = new Map<string, string>();
  for (const [name, items] of Object.entries(lists))
    for (const item of items) texts.set(keyOf(name, item), JSON.stringify(item));
  return texts;
}
