import type * as pulumi from "@pulumi/pulumi";
import { AuthenticationError, ServerlessGpuError } from "../../sdk/errors/errors";
import { redact } from "../../sdk/errors/secretText";
import { isObject, type Properties } from "./properties";

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

/** Returns what an error says. */
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

/**
 * Returns handlers for the engine. Their results are plain JSON, because `undefined` or `NaN` in a
 * result would cause a failure only after RunPod had made its changes. Their errors contain no
 * keys.
 */
export function forEngine(handlers: pulumi.dynamic.ResourceProvider): pulumi.dynamic.ResourceProvider {
  return wrapHandlers(handlers, guard);
}

function guard(handler: AnyHandler): AnyHandler {
  return async (...args) => {
    try {
      const result = await handler(...args);
      return result === undefined ? undefined : JSON.parse(JSON.stringify(result));
    } catch (error) {
      throw withoutEcho(saidOnce(presentable(error), nameIn(args)));
    }
  };
}

/** The resources whose errors have said in full that the key is not accepted, by the message. */
const refusedFor = new Map<string, string>();

/**
 * Returns a short error if this process has already thrown one with the same message about the key
 * for another resource. The engine prints an error for each resource that it has begun.
 */
function saidOnce(error: Error, name: string): Error {
  if (!(error instanceof AuthenticationError) || "reasons" in error) return error;
  const first = refusedFor.get(error.message) ?? name;
  refusedFor.set(error.message, first);
  if (first === name) return error;
  // A new error, because resources that wait for one response get the same one.
  return presentable(new AuthenticationError(`the API key is not accepted: see the error of ${first}`));
}

/** Returns the name of the record that a call is about. */
function nameIn(args: readonly unknown[]): string {
  const names = args.map((each) => (isObject(each) ? (each.name ?? each.__automaticName) : undefined));
  return String(names.findLast((name) => name !== undefined) ?? "another resource");
}

/** The lines that Pulumi's provider process is about to print, in addition to the errors. */
const echoes = new Set<string>();

/**
 * Keeps Pulumi's provider process from printing an error that a user can fix. It prints the errors
 * of some methods before it returns them, and the engine would show each line a second time, as a
 * message of the stack.
 */
function withoutEcho(error: Error): Error {
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
function presentable(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(redact(String(error)));
  if (error instanceof ServerlessGpuError || "reasons" in error) return Object.assign(error, { stack: "" });
  const copy = new Error(redact(error.message));
  copy.stack = redact(error.stack ?? "");
  return copy;
}
