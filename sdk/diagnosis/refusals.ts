import { STATUS_CODES } from "node:http";
import * as z from "zod";
import {
  AuthenticationError,
  ConfigurationError,
  NoQueueError,
  NotFoundError,
  type ServerlessGpuError,
} from "../errors/errors";
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

/** The forms of the service's own rejections: of REST v2 and the queue, and of GraphQL. */
const OWN_FORM = z.union([
  z.strictObject({ title: z.string(), status: z.number(), detail: z.string(), errors: z.unknown().optional() }),
  z.strictObject({ errors: z.tuple([z.looseObject({ message: z.literal("Unauthorized") })]) }),
]);

/**
 * Returns `true` if a response has the form that the service itself uses for rejections. Gateways,
 * proxies and other servers send HTML pages, or JSON with other fields.
 */
export function isOwnRefusal({ status = 0, body = "" }: ServerlessGpuError): boolean {
  // GraphQL also sends rejections with status 200. At this point, such a response is already known
  // to come from the service itself.
  if (status === 200) return true;
  try {
    const said = OWN_FORM.parse(JSON.parse(body));
    return !("title" in said) || (said.title === STATUS_CODES[status] && said.status === status);
  } catch {
    return false;
  }
}
