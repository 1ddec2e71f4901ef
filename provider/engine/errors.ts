import type * as pulumi from "@pulumi/pulumi";
import { ServerlessGpuError } from "../../sdk/errors/errors";
import { redact } from "../../sdk/errors/secretText";
import type { Properties } from "./properties";

/**
 * Returns an error that makes the engine keep the incomplete resource and complete it with an
 * update on the next `up`. Its properties are plain JSON: Pulumi's dynamic provider never answers
 * if one of them is `undefined`.
 * @param properties must contain `__provider`; otherwise the engine could neither refresh nor
 * delete the resource
 */
export function initFailure(error: unknown, id: string, properties: Properties): Error {
  const { message } = presentable(error);
  const plain: Properties = JSON.parse(JSON.stringify(properties));
  return Object.assign(new Error(message), { stack: "", id, properties: plain, reasons: [message] });
}

/** Returns the message of an error. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The type of a handler, in the form that all handlers share. */
export type AnyHandler = (...args: never[]) => Promise<unknown>;

/**
 * Wraps every handler except `configure`, which is left unchanged because it must return before the
 * first call.
 */
export function wrapHandlers(
  handlers: pulumi.dynamic.ResourceProvider,
  wrap: (handler: AnyHandler) => AnyHandler,
): pulumi.dynamic.ResourceProvider {
  const { configure, ...others } = handlers;
  const wrapped = Object.entries<AnyHandler | undefined>(others).map(([method, handler]) => [
    method,
    handler && wrap(handler),
  ]);
  return { ...(configure ? { configure } : {}), ...Object.fromEntries(wrapped) };
}

/** The lines that Pulumi's provider process is about to print, in addition to the errors. */
const echoes = new Set<string>();

/**
 * Keeps Pulumi's provider process from printing an error that a user can fix. It prints the errors
 * of some methods before it returns them, and the engine would show each line a second time, as a
 * message of the stack.
 */
export function withoutEcho(error: Error): Error {
  if (error.stack !== "") return error;
  if (echoes.size === 0) {
    const print = console.error;
    console.error = (...line: unknown[]) => {
      if (!echoes.has(String(line[0]))) print(...line);
    };
  }
  echoes.add(`${error}: `);
  return error;
}

/**
 * Removes the stack from errors that the user can fix, because the engine prints the stack after
 * the message. Redacts all other errors.
 */
export function presentable(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(redact(String(error)));
  if (error instanceof ServerlessGpuError || "reasons" in error) return Object.assign(error, { stack: "" });
  const copy = new Error(redact(error.message));
  copy.stack = redact(error.stack ?? "");
  return copy;
}
