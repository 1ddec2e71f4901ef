import * as grpc from "@grpc/grpc-js";
import { ErrorResourceInitFailed } from "@pulumi/pulumi/proto/provider_pb";
import { Status } from "@pulumi/pulumi/proto/status_pb";
import { Any } from "google-protobuf/google/protobuf/any_pb";
import type { Properties } from "../../provider/engine/properties";
import { redact } from "../../sdk/errors/secretText";
import { toWire } from "./properties";

/** An error from create or update after which the engine keeps the incomplete resource. */
interface InitFailure extends Error {
  readonly id: string;
  readonly properties: Properties;
  readonly reasons: readonly string[];
}

export function isInitFailure(error: unknown): error is InitFailure {
  return error instanceof Error && "reasons" in error && "id" in error;
}

/**
 * Converts an error to a gRPC status. An initialization failure includes the resource, as the
 * engine expects.
 */
export function toStatus(error: unknown, secrets: readonly string[] = []): Partial<grpc.StatusObject> {
  const message = redact(error instanceof Error ? error.message : String(error));
  const metadata = new grpc.Metadata();
  if (isInitFailure(error)) {
    const failed = new ErrorResourceInitFailed();
    failed.setId(error.id);
    failed.setProperties(toWire(error.properties, secrets));
    failed.setReasonsList([...error.reasons]);
    const detail = new Any();
    detail.pack(failed.serializeBinary(), "pulumirpc.ErrorResourceInitFailed");
    const status = new Status();
    status.setCode(grpc.status.UNKNOWN);
    status.setMessage(message);
    status.addDetails(detail);
    metadata.add("grpc-status-details-bin", Buffer.from(status.serializeBinary()));
  }
  return { code: grpc.status.UNKNOWN, details: message, metadata };
}
