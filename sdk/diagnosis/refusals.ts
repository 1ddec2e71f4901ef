import { STATUS_CODES } from "node:http";
import {
  AuthenticationError,
  ConfigurationError,
  NoQueueError,
  NotFoundError,
  type ServerlessGpuError,
} from "../errors";
import type { ServiceRefusal } from "./evidence";

/**
 * Returns what a rejection reveals about the endpoint or the key, or `undefined` if it reveals
 * nothing.
 */
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
 * Returns `true` if a response has the form that the service itself uses for rejections. Gateways,
 * proxies and other servers send HTML pages, or JSON with other fields.
 */
export function isOwnRefusal({ status = 0, body = "" }: ServerlessGpuError): boolean {
  // GraphQL also sends rejections with status 200. At this point, such a response is already known
  // to come from the service itself.
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

/** Returns `true` for the error list that GraphQL returns if it does not accept a key. */
function isUnauthorized(errors: unknown): boolean {
  return Array.isArray(errors) && errors.length === 1 && (errors[0] as Fields | null)?.message === "Unauthorized";
}
