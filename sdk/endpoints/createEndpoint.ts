import { type Clock, sleep } from "../contract/clock";
import { LIST_LAG_MS } from "../contract/limits";
import { CreateUncertainError, ServerlessGpuError } from "../errors";
import type { CallOptions } from "../transport/retryingCall";
import type { Endpoint, EndpointSettings } from "./record";

export interface CreateOptions extends CallOptions {
  /**
   * Called when endpoints of the new one's name exist already. It may return one of them, which is then taken instead
   * of creating another, or throw. Default: another is created; the service does not demand that names are unique.
   */
  readonly onNameTaken?: (existing: readonly Endpoint[]) => Endpoint | undefined;
}

/** What identifies an endpoint whose id is not known. */
export type NewEndpoint = Pick<EndpointSettings, "name" | "templateId" | "gpuIds">;

/** The single steps that a creation is made of. */
export interface CreateSteps {
  readonly clock: Clock;
  /** All endpoints before anything was done, in a list that others may share. */
  listBefore(signal?: AbortSignal): Promise<readonly Endpoint[]>;
  /** All endpoints, in a new list. */
  list(signal?: AbortSignal): Promise<readonly Endpoint[]>;
  /** Creates. `lookUp` tells, after a lost answer, whether there is an endpoint now that was not there before. */
  save(operation: string, lookUp: () => Promise<Endpoint | undefined>): Promise<Endpoint>;
}

/** Looks what is there, creates, and after a lost answer looks again: never a second endpoint. */
export async function createEndpoint(
  wanted: NewEndpoint,
  options: CreateOptions,
  steps: CreateSteps,
): Promise<Endpoint> {
  const { signal, onNameTaken } = options;
  let before = await steps.listBefore(signal);
  const namesakesOf = () => before.filter(({ name }) => name === wanted.name);
  // A shared list may be a little old: nobody is refused because of what has gone meanwhile.
  if (onNameTaken && namesakesOf().length > 0) before = await steps.list(signal);
  const namesakes = namesakesOf();
  const taken = namesakes.length > 0 ? onNameTaken?.(namesakes) : undefined;
  if (taken) return taken;
  const operation = `saveEndpoint (create) of "${wanted.name}"`;
  const idsBefore = new Set(before.map(({ id }) => id));
  return steps.save(operation, async () => {
    const candidates = (await listAfterLag(operation, steps, signal)).filter(
      (each) => !idsBefore.has(each.id) && isSame(each, wanted),
    );
    if (candidates.length < 2) return candidates[0];
    const ids = candidates.map(({ id }) => id);
    throw new CreateUncertainError(
      `${operation}: the answer was lost, and several new endpoints could be it: ${ids.join(", ")}. ` +
        "Keep one of them and delete the others",
      ids,
    );
  });
}

async function listAfterLag(operation: string, steps: CreateSteps, signal?: AbortSignal): Promise<readonly Endpoint[]> {
  await sleep(steps.clock, LIST_LAG_MS, signal);
  try {
    return await steps.list(signal);
  } catch (cause) {
    if (!(cause instanceof ServerlessGpuError)) throw cause;
    throw new CreateUncertainError(
      `${operation}: the answer was lost, and what it did could not be looked up either: ${cause.message}. The endpoint ` +
        "may exist: look before you create it again",
      [],
      { cause },
    );
  }
}

function isSame(endpoint: Endpoint, wanted: NewEndpoint): boolean {
  return (
    endpoint.name === wanted.name && endpoint.templateId === wanted.templateId && endpoint.gpuIds === wanted.gpuIds
  );
}
