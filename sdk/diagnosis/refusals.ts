import { STATUS_CODES } from "node:http";
import {
  AuthenticationError,
  ConfigurationError,
  NoQueueError,
  NotFoundError,
  type ServerlessGpuError,
} from "../errors";
import type { ServiceRefusal } from "./evidence";

/** Returns what an error says itself about the endpoint or the key, if anything. */
export function refusalIn(error: ServerlessGpuError): Pick<ServiceRefusal, "is" | "isOwn"> | undefined {
  const is = failureOf(error);
  return is && { is, isOwn: is === "no queue" || isOwnRefusal(error) };
}

function failureOf(error: ServerlessGpuError): ServiceRefusal["is"] | undefined {
  if (error instanceof NoQueueError || /not allowed for QB API/i.test(error.body ?? "")) return "no queue";
  if (error instanceof NotFoundError) return "absent";
  if (error instanceof ConfigurationError) return undefined;
  if (error instanceof AuthenticationError || error.status === 401 || error.status === 403) return "refused";
  return undefined;
}

/**
 * Returns `true` if a response has the form in which the service itself refuses. Gateways, proxies
 * and other servers refuse with pages, and with JSON that has other fields.
 */
export function isOwnRefusal({ status = 0, body = "" }: ServerlessGpuError): boolean {
  // GraphQL also refuses with 200. Its response was read as one of the service.
  if (status === 200) return true;
  const said = objectIn(body);
  if (hasOnly(said, ["errors"])) return isUnauthorized(said.errors);
  const isProblem = said.title === STATUS_CODES[status] && said.status === status && typeof said.detail === "string";
  return isProblem && hasOnly(said, ["title", "status", "detail", "errors"]);
}

type Fields = Readonly<Record<string, unknown>>;

function objectIn(body: string): Fields {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === "object" && value !== null ? (value as Fields) : {};
  } catch {
    return {};
  }
}

function hasOnly(fields: Fields, names: readonly string[]): boolean {
  return Object.keys(fields).every((name) => names.includes(name));
}

/** The error of GraphQL for a key that it does not accept. */
function isUnauthorized(errors: unknown): boolean {
  return Array.isArray(errors) && errors.length === 1 && (errors[0] as Fields | null)?.message === "Unauthorized";
}
