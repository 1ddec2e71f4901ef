import type * as pulumi from "@pulumi/pulumi";
import { ServerlessGpuError } from "../sdk/errors";
import { redact } from "../sdk/secret";
import type { Properties } from "./properties";

/**
 * An error after which the engine keeps the resource, half-made, and finishes it with an update on the next `up`.
 * `properties` must hold `__provider`, or the resource could be neither refreshed nor deleted.
 */
export function initFailure(error: unknown, id: string, properties: Properties): Error {
  const { message } = presentable(error);
  return Object.assign(new Error(message), { stack: "", id, properties, reasons: [message] });
}

type Handler = (...args: never[]) => Promise<unknown>;

/**
 * The handlers as the engine may call them. What they return is plain JSON: one `undefined` or `NaN` would fail only
 * after the service had done its part. What they throw is an `Error` without keys.
 */
export function forEngine(handlers: pulumi.dynamic.ResourceProvider): pulumi.dynamic.ResourceProvider {
  const { configure, ...others } = handlers;
  const guarded = Object.entries(others).map(([method, handler]) => [method, guard(handler as Handler)]);
  // `configure` stays as it is: it must have run to its end when the first call comes.
  return { ...(configure ? { configure } : {}), ...Object.fromEntries(guarded) };
}

function guard(handler: Handler): Handler {
  return async (...args) => {
    try {
      const answer = await handler(...args);
      return answer === undefined ? undefined : JSON.parse(JSON.stringify(answer));
    } catch (error) {
      throw presentable(error);
    }
  };
}

/** The engine prints an error's stack beside its message; for those that a person is to mend it is only noise. */
function presentable(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(redact(String(error)));
  if (error instanceof ServerlessGpuError || "reasons" in error) return Object.assign(error, { stack: "" });
  const copy = new Error(redact(error.message));
  copy.stack = redact(error.stack ?? "");
  return copy;
}
