import type { Fact, Reply, Site } from "../site";

/** Requests that belong together. It notes a fact for each row that it plays. */
export interface Scenario {
  readonly name: string;
  play(site: Site): Promise<void>;
}

/** An id that no endpoint, job or pod has. */
export const UNKNOWN_ID = "verifyservicenosuchid";

/** Returns the sorted names of the fields of an object; `null` for anything else. */
export function keysOf(value: unknown): string[] | null {
  return typeof value === "object" && value !== null ? Object.keys(value).sort() : null;
}

/** Returns the outcome of a GraphQL operation without its messages: those of refusals are not part of any rule. */
export function outcomeOf({ status, body }: Reply): Fact {
  const [first] = body?.errors ?? [];
  return { status, refused: first !== undefined, code: first?.extensions?.code ?? null };
}
