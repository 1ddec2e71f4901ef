import type { FidelityId } from "../../../emulator/model/fidelity";
import type { OwnEndpoint, RowResult, Sending, TestedReply, TestedRow } from "../testedService";

/** Fields of `saveEndpoint` as GraphQL values. `undefined` omits a field. */
export type ScenarioFields = Readonly<Record<string, string | undefined>>;

/**
 * A request. Placeholders: `{endpoint}` is the id of the run's endpoint, `{template}` the id of its
 * template, `{second}` the name of the second endpoint, `{pool}` the run's GPU pool, and `{name}`
 * the id in the reply to a named step.
 */
export type Request = Sending &
  (
    | { readonly graphql: string; readonly operationName?: string }
    | { readonly rest: string }
    | { readonly v2: string }
    | { readonly queue: string; readonly json?: unknown }
    /** Saves the run's endpoint with these fields, without workers unless the fields set them. */
    | { readonly save: ScenarioFields; readonly selection?: string }
    /** A path below the endpoint's load balancer. */
    | { readonly lb: string }
    | { readonly elsewhere: string }
  );

/**
 * Extracts the part of a reply that shows a rule. `earlier` contains the replies to named steps.
 */
export type FindingOf = (
  reply: TestedReply,
  earlier: Readonly<Record<string, TestedReply>>,
  own: OwnEndpoint,
) => RowResult;

/**
 * A request, and the rows of the fidelity table that its reply tests. The emulator's reply is the
 * expected one.
 */
export interface ScenarioStep {
  readonly send: Request;
  readonly findings?: readonly (readonly [TestedRow, FindingOf])[];
  /** A name by which later steps can refer to the reply. */
  readonly as?: string;
  /** The id for later steps if the reply contains none. @default the scenario ends there */
  readonly idOrElse?: string;
  /** How long to wait before the request, in milliseconds. @default 0 */
  readonly pauseMs?: number;
  /** Repeats the request every `everyMs` until its reply matches, for at most `atMostMs`. */
  readonly until?: {
    readonly fits: (reply: TestedReply) => boolean;
    readonly everyMs: number;
    readonly atMostMs: number;
  };
}

/** A sequence of steps that belong together. */
export interface Scenario {
  readonly name: string;
  readonly steps: readonly ScenarioStep[];
}

/** An id that no endpoint, job or pod uses. */
export const UNKNOWN_ID = "verifyservicenosuchid";

/** A row that exists only in the observed profile. */
export const observed = (row: FidelityId): TestedRow => ({ observed: row });

/** Returns the sorted names of the fields of an object; `null` for anything else. */
export function keysOf(value: unknown): string[] | null {
  return typeof value === "object" && value !== null ? Object.keys(value).sort() : null;
}

export const status: FindingOf = (reply) => reply.status;
export const body: FindingOf = (reply) => reply.body;
export const bodyKeys: FindingOf = (reply) => keysOf(reply.body);

/**
 * Returns the outcome of a GraphQL operation without its messages, because no rule covers the
 * wording of errors.
 */
export function outcome({ status, body }: TestedReply): object {
  const [first] = body?.errors ?? [];
  return { status, refused: first !== undefined, code: first?.extensions?.code ?? null };
}

/** Returns the GraphQL document that deletes an endpoint. */
export const deletionOf = (id: string) => `mutation { deleteEndpoint(id: "${id}") }`;

/** Returns the outcome of deleting the run's endpoint. */
export const deletion: FindingOf = ({ status, body }) => ({
  status,
  data: body?.data ?? null,
  refused: body?.errors !== undefined,
});
