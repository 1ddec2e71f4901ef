import type { FidelityId } from "../../../emulator/model/fidelity";
import type { OwnEndpoint, RowResult, Sending, TestedReply, TestedRow } from "../testedService";

/** Fields of `saveEndpoint` as GraphQL values. `undefined` leaves a field out. */
export type ScenarioFields = Readonly<Record<string, string | undefined>>;

/**
 * A request. `{endpoint}` stands for the id of the run's endpoint, `{template}` for the id of its
 * template, `{second}` for the name of the second endpoint, `{pool}` for the run's GPU pool, and
 * `{name}` for the id in the reply that a step named.
 */
export type Request = Sending &
  (
    | { readonly graphql: string; readonly operationName?: string }
    | { readonly rest: string }
    | { readonly v2: string }
    | { readonly queue: string; readonly json?: unknown }
    /** Saves the run's endpoint with these fields; without workers, unless they say otherwise. */
    | { readonly save: ScenarioFields; readonly selection?: string }
    /** A path below the endpoint's load balancer. */
    | { readonly lb: string }
    | { readonly elsewhere: string }
  );

/**
 * Returns the part of a reply that shows a rule. `earlier` holds the replies that earlier steps
 * named.
 */
export type FindingOf = (
  reply: TestedReply,
  earlier: Readonly<Record<string, TestedReply>>,
  own: OwnEndpoint,
) => RowResult;

/**
 * A request, and the rows of the fidelity table that its reply shows. The emulator's reply is the
 * expected one.
 */
export interface ScenarioStep {
  readonly send: Request;
  readonly findings?: readonly (readonly [TestedRow, FindingOf])[];
  /** The name that later steps use for the reply. */
  readonly as?: string;
  /** The id for later steps if the reply has none. @default the scenario ends there */
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

/** Steps that belong together. */
export interface Scenario {
  readonly name: string;
  readonly steps: readonly ScenarioStep[];
}

/** An id that no endpoint, job or pod has. */
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
 * Returns the outcome of a GraphQL operation without its messages: the wording of refusals is not
 * part of any rule.
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
