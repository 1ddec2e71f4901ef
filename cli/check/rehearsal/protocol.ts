import { createRequire } from "node:module";
import path from "node:path";

// biome-ignore lint/suspicious/noExplicitAny: the generated messages have no types of their own
export type Message = any;
export interface Call {
  readonly request: Message;
  /** Returns the address of the caller, which distinguishes its connections. */
  getPeer(): string;
}
export type Done = (error: object | null, response?: Message) => void;
export type Handlers = Record<string, (call: Call, done: Done) => void>;

/** A state may be large. */
export const NO_LIMIT = { "grpc.max_receive_message_length": -1, "grpc.max_send_message_length": -1 };

/** Pulumi's protocol of providers, from the `@pulumi/pulumi` of the program. */
export interface Protocol {
  readonly grpc: Message;
  readonly services: Message;
  readonly messages: Message;
  readonly empty: Message;
  readonly structs: Message;
  /** The path of Pulumi's own provider of dynamic resources. */
  readonly dynamicProvider: string;
}

/** Returns the protocol; `undefined` if `@pulumi/pulumi` is not installed. */
export function protocolFor(project: string): Protocol | undefined {
  try {
    const sdk = createRequire(__filename).resolve("@pulumi/pulumi/package.json", { paths: [project, __dirname] });
    const load = createRequire(path.join(path.dirname(sdk), "index.js"));
    return {
      grpc: load("@grpc/grpc-js"),
      services: load("./proto/provider_grpc_pb.js"),
      messages: { ...load("./proto/provider_pb.js"), ...load("./proto/plugin_pb.js") },
      empty: load("google-protobuf/google/protobuf/empty_pb.js"),
      structs: load("google-protobuf/google/protobuf/struct_pb.js"),
      dynamicProvider: load.resolve("./cmd/dynamic-provider"),
    };
  } catch {
    return undefined;
  }
}
