import { AsyncLocalStorage } from "node:async_hooks";
import * as grpc from "@grpc/grpc-js";
import { EngineClient } from "@pulumi/pulumi/proto/engine_grpc_pb";
import { LogRequest, LogSeverity } from "@pulumi/pulumi/proto/engine_pb";

const WARNING = "warning: ";

/** The resource of a call, and its log lines that have not been delivered yet. */
interface Scope {
  readonly urn: string;
  readonly lines: Promise<void>[];
}

const scopes = new AsyncLocalStorage<Scope>();

/**
 * Runs a call. Its log lines are associated with the resource and reach the engine before the
 * response.
 */
export async function loggingFor<T>(urn: string, work: () => Promise<T>): Promise<T> {
  const scope: Scope = { urn, lines: [] };
  try {
    return await scopes.run(scope, work);
  } finally {
    await Promise.all(scope.lines);
  }
}

/**
 * Returns a function that logs a line through the engine, for the current call's resource. A line
 * of a call without a resource begins with its name.
 */
export function engineLog(address: string): (name: string, text: string) => void {
  const engine = new EngineClient(address, grpc.credentials.createInsecure());
  return (name, text) => {
    const scope = scopes.getStore();
    const isWarning = text.startsWith(WARNING);
    const request = new LogRequest();
    request.setSeverity(isWarning ? LogSeverity.WARNING : LogSeverity.INFO);
    const message = isWarning ? text.slice(WARNING.length) : text;
    request.setMessage(scope?.urn ? message : `${name}: ${message}`);
    request.setUrn(scope?.urn ?? "");
    // A line that the engine does not accept is dropped, because the call is more important.
    scope?.lines.push(new Promise((resolve) => engine.log(request, () => resolve())));
  };
}
