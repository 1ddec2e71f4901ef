import { STATUS_CODES } from "node:http";
import type { HttpResponse } from "../io/http";
import { BusinessError } from "../model/businessError";
import type { FidelityId } from "../model/fidelity";

/** The error for a request that REST v2 refuses, with its status. */
export class V2Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly fidelity?: FidelityId,
    /** The problems in the body. */
    readonly problems?: readonly string[],
  ) {
    super(message);
  }
}

/**
 * Returns a record by id.
 * @throws Refusal with status 404 if it does not exist
 */
export function findOrRefuse<T extends { readonly id: string }>(records: readonly T[], id: string): T {
  const found = records.find((each) => each.id === id);
  if (!found) throw new V2Refusal(404, "resource not found", "v2.unknown-id");
  return found;
}

/** Returns an error response in REST v2's format (RFC 9457). */
export function problem({ status, message, fidelity, problems }: V2Refusal): HttpResponse {
  const title = STATUS_CODES[status] ?? "Error";
  const body = { title, status, detail: message, ...(problems && { errors: problems }) };
  return {
    status,
    headers: { "content-type": "application/problem+json" },
    body: JSON.stringify(body),
    fidelity,
    error: problems ? `${message} ${problems.join("; ")}` : message,
  };
}

/** The rules whose violation means that something does not exist. */
const NOT_FOUND: readonly FidelityId[] = [
  "save.unknown-id",
  "save.unknown-template",
  "save.deleted-template",
  "template.unknown-id",
  "template.unknown-name",
  "volume.nonexistent",
  "registry.unknown-id",
  "secret.unknown-id",
];

/** Statuses of rules that don't use the default. */
const STATUSES: Readonly<Partial<Record<FidelityId, number>>> = {
  "save.pod-template": 422,
  "secret.unique-name": 409,
  "secret.name-case": 409,
  "secret.name": 422,
  "secret.value": 422,
  "secret.description": 422,
};

/** Converts the violation of a rule that GraphQL shares. Other errors are returned unchanged. */
export function refusalOf(error: unknown): unknown {
  if (!(error instanceof BusinessError)) return error;
  const { message, fidelity } = error;
  if (NOT_FOUND.includes(fidelity)) return new V2Refusal(404, message, fidelity);
  return new V2Refusal(STATUSES[fidelity] ?? 400, message, fidelity);
}
