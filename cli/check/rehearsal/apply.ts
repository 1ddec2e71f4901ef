import type { Emulator, FaultRule, JournalEntry } from "../../../emulator";
import { GRAPHQL_PER_MINUTE } from "../../../sdk/contract/limits";
import { redact } from "../../../sdk/errors/secretText";
import { previewIn } from "../previewJson";
import { type Change, changesOf, snapshotOf } from "./changes";
import type { CopiedStack } from "./copyStack";
import { type Ended, type Pulumi, reasonOf, succeeded } from "./engine";
import { refuseDependents, type Step } from "./otherResources";

/** The result of applying the change to the copy. */
export interface Applied {
  readonly changes: readonly Change[];
  /** Why the update failed; `undefined` if it succeeded. */
  readonly failure?: string | undefined;
  /** The number of requests that the update sent, excluding those of workers. */
  readonly requests: number;
  /** The minimum time that the requests take within RunPod's limits, in seconds. */
  readonly limitedS: number;
  /** What the next preview would still change; empty if nothing. */
  readonly left: readonly string[];
  /** The protected resources, which a destroy would refuse. */
  readonly protectedResources: readonly string[];
  /** Why a destroy of the rest would fail; `undefined` if it would not. */
  readonly destroyFailure?: string | undefined;
  /**
   * The records that a destroy would leave only because other records that stay use them;
   * `undefined` if there are none.
   */
  readonly destroyLeaves?: string | undefined;
}

/**
 * The steps of a preview that change nothing. A `read` step is a stack reference, which is read
 * each time.
 */
const UNCHANGED = ["same", "read"];

/** The number of requests per minute that REST v2 allows. */
const V2_PER_MINUTE = 60;

/** Previews the program against the copy. Returns the JSON output and its steps. */
export async function previewCopy(pulumi: Pulumi, { flags }: CopiedStack, more: readonly string[] = []) {
  const ended = pulumi(["preview", "--json", "--show-sames", ...flags, ...more]);
  const text = await succeeded("the preview of the program in the rehearsal failed", ended).catch(withAdvice);
  const { steps = [] } = previewIn(text) as { readonly steps?: readonly Step[] };
  refuseDependents(steps);
  return { text, steps };
}

function withAdvice(error: Error): never {
  if (!/unknown stack "/.test(error.message)) throw error;
  throw new Error(
    `${error.message}. The rehearsal only has the stacks that the state refers to. If the change adds this reference, use check ` +
      "without --rehearse",
    { cause: error },
  );
}

/** Applies the program to the copy, previews it again, and destroys the copy. */
export async function applyToCopy(
  pulumi: Pulumi,
  stack: CopiedStack,
  { emulator, steps, faults }: { emulator: Emulator; steps: readonly Step[]; faults: readonly FaultRule[] },
): Promise<Applied> {
  const before = snapshotOf(emulator);
  emulator.journal.clear();
  for (const fault of faults) emulator.faults.add(fault);
  const updated = await pulumi(["up", "--yes", "--skip-preview", ...stack.flags]);
  emulator.faults.clear();
  const requests = emulator.journal.requests();
  const shown = { ...countOf(requests), changes: changesOf(steps, before, snapshotOf(emulator)) };
  if (updated.code !== 0) return { ...shown, failure: reasonOf(updated), left: [], protectedResources: [] };
  const next = await previewCopy(pulumi, stack);
  const left = next.steps.filter(({ op }) => !UNCHANGED.includes(op)).map(nameOf);
  const protectedResources = next.steps.filter(({ newState }) => newState?.protect === true).map(nameOf);
  if (protectedResources.length > 0) await stack.unprotect();
  const destroyed = await pulumi(["destroy", "--yes", "--skip-preview", ...forHooks(next.steps), ...stack.flags]);
  const destroyLeaves = destroyed.code === 0 ? undefined : inUse(destroyed);
  const isFailure = destroyed.code !== 0 && destroyLeaves === undefined;
  return {
    ...shown,
    left,
    protectedResources,
    destroyLeaves,
    destroyFailure: isFailure ? reasonOf(destroyed) : undefined,
  };
}

/** A destroy without the program refuses resources that have hooks for their deletion. */
const forHooks = (steps: readonly Step[]) =>
  steps.some(({ newState }) => newState?.resourceHooks) ? ["--run-program"] : [];

/**
 * Returns the errors of a destroy if all say that a record which stays uses another one: a retained
 * or released endpoint, or one outside the stack. Such a destroy fails whether or not the change is
 * merged, or does what the program says.
 */
function inUse({ stdout, stderr }: Ended): string | undefined {
  const errors = [...`${stdout}\n${stderr}`.matchAll(/error: (.*)/g)].map(([, text = ""]) => text.trim());
  const own = [...new Set(errors.filter((text) => text !== "update failed"))];
  return own.length > 0 && own.every((text) => text.includes("it is in use by")) ? redact(own.join("; ")) : undefined;
}

const nameOf = ({ urn }: Step) => urn.split("::").slice(3).join("::");

function countOf(requests: readonly JournalEntry[]): Pick<Applied, "requests" | "limitedS"> {
  const graphql = requests.filter((each) => each.interface === "graphql").length;
  const managed = requests.filter((each) => each.interface !== "queue").length;
  // The requests of the first minute don't have to wait.
  const waitS = (count: number, perMinute: number) => Math.max(0, count - perMinute) * (60 / perMinute);
  return {
    requests: managed,
    limitedS: Math.max(waitS(graphql, GRAPHQL_PER_MINUTE.runpod), waitS(managed - graphql, V2_PER_MINUTE)),
  };
}
