import { findProjectFile } from "../connection/projectFile";
import { sayWhileWaiting } from "../connection/readInTime";
import { type Learned, pulumiJson } from "../pulumiCommand";
import { classOf, readStack } from "../stack";

const TIMEOUT_MS = 60_000;

/** The name of the stack that manages each record, by the record's id. */
export type ManagedRecords = ReadonlyMap<string, string>;

/**
 * Reads which records the stacks of the current folder's project manage, so that no second stack
 * adopts them. Outside a project, there are none.
 */
export async function managedRecords(): Promise<Learned<ManagedRecords>> {
  const folder = process.cwd();
  if (findProjectFile(folder) === undefined) return { value: new Map() };
  return await sayWhileWaiting(
    () => "still reading the states of this project's stacks",
    () => readProject(folder),
  );
}

async function readProject(folder: string): Promise<Learned<ManagedRecords>> {
  const stacks = await pulumiJson<readonly { readonly name: string }[]>(["stack", "ls", "--json"], folder, TIMEOUT_MS);
  if ("problem" in stacks) return stacks;
  const managed = new Map<string, string>();
  // Read one stack at a time, because each read starts a process.
  for (const { name } of stacks.value) {
    const state = await readStack({ stack: name, folder, timeoutMs: TIMEOUT_MS });
    if ("problem" in state) return { problem: `stack ${name}: ${state.problem}` };
    // A resource that a program only reads (`ServerlessEndpoint.get`) is external.
    const own = state.value.resources.filter(({ type, external }) => classOf(type) !== undefined && !external);
    for (const { id } of own) if (id !== undefined) managed.set(id, name);
  }
  return { value: managed };
}
