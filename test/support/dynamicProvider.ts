import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import path from "node:path";
import * as grpc from "@grpc/grpc-js";
import { ResourceProviderClient } from "@pulumi/pulumi/proto/provider_grpc_pb";
import * as messages from "@pulumi/pulumi/proto/provider_pb";
import { Struct } from "google-protobuf/google/protobuf/struct_pb";
import { assertBuilt } from "../../tools/sourcesOfBuild";
import { COMPILE_CACHE } from "./compiledCode";

// The provider's process loads the build.
assertBuilt();

export type Properties = Record<string, unknown>;

/** The `__provider` text in state. It is repeated here so that the tests fail if it changes. */
export const PROVIDER_TEXT = 'exports.handler = () => require("pulumi-serverless-gpu/handlers").v1;';

const REPOSITORY = path.resolve(__dirname, "../..");

/** An error of create or update that leaves a half-made resource behind. */
export interface InitFailure {
  readonly message: string;
  readonly id: string;
  readonly properties: Properties;
  readonly reasons: string[];
}

/**
 * Pulumi's own dynamic-provider process, spoken to as the engine does, over gRPC. It loads the
 * built package through the text in `__provider`, from a program's folder.
 * @param within a command that runs the process, such as `unshare`
 */
export async function startDynamicProvider(
  env: Record<string, string>,
  config: Record<string, string> = {},
  within: readonly string[] = [],
) {
  const folder = mkdtempSync(path.join(REPOSITORY, ".scratch-provider-"));
  const engine = await startEngine();
  const dynamicProvider = require.resolve("@pulumi/pulumi/cmd/dynamic-provider");
  const [command = "", ...args] = [...within, process.execPath, dynamicProvider, engine.address];
  const child = spawn(command, args, {
    cwd: folder,
    env: { PATH: process.env.PATH, ...COMPILE_CACHE, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  const port = await new Promise<string>((resolve, reject) => {
    child.stdout?.on("data", (chunk) => {
      output += chunk;
      const line = /^([0-9]+)\n/.exec(output);
      if (line?.[1]) resolve(line[1]);
    });
    child.stderr?.on("data", (chunk) => {
      output += chunk;
    });
    child.on("exit", () => reject(new Error(`the provider's process ended: ${output}`)));
  });
  const client = new ResourceProviderClient(`127.0.0.1:${port}`, grpc.credentials.createInsecure());

  const configure = new messages.ConfigureRequest();
  configure.setArgs(toStruct(config));
  await call(client.configure.bind(client), configure);

  return {
    /** All that the process printed. */
    output: () => output,
    async check(olds: Properties, news: Properties) {
      const request = new messages.CheckRequest();
      request.setOlds(toStruct(olds));
      request.setNews(toStruct({ __provider: PROVIDER_TEXT, ...news }));
      const response = await call<messages.CheckResponse>(client.check.bind(client), request);
      const failures = response.getFailuresList();
      return {
        inputs: fromStruct(response.getInputs()),
        failures: failures.map((failure) => ({ property: failure.getProperty(), reason: failure.getReason() })),
      };
    },
    async diff(id: string, olds: Properties, news: Properties) {
      const request = new messages.DiffRequest();
      request.setId(id);
      request.setOlds(toStruct({ __provider: PROVIDER_TEXT, ...olds }));
      request.setNews(toStruct({ __provider: PROVIDER_TEXT, ...news }));
      const response = await call<messages.DiffResponse>(client.diff.bind(client), request);
      return { changes: ["unknown", "none", "some"][response.getChanges()], replaces: response.getReplacesList() };
    },
    async create(inputs: Properties) {
      const request = new messages.CreateRequest();
      request.setProperties(toStruct({ __provider: PROVIDER_TEXT, ...inputs }));
      const response = await call<messages.CreateResponse>(client.create.bind(client), request);
      return { id: response.getId(), outputs: fromStruct(response.getProperties()) };
    },
    async read(id: string, outputs: Properties) {
      const request = new messages.ReadRequest();
      request.setId(id);
      request.setProperties(toStruct({ __provider: PROVIDER_TEXT, ...outputs }));
      const response = await call<messages.ReadResponse>(client.read.bind(client), request);
      const { getId, getProperties, getInputs } = response;
      return {
        id: getId.call(response),
        outputs: fromStruct(getProperties.call(response)),
        inputs: fromStruct(getInputs.call(response)),
      };
    },
    async update(id: string, olds: Properties, news: Properties) {
      const request = new messages.UpdateRequest();
      request.setId(id);
      request.setOlds(toStruct({ __provider: PROVIDER_TEXT, ...olds }));
      request.setNews(toStruct({ __provider: PROVIDER_TEXT, ...news }));
      const response = await call<messages.UpdateResponse>(client.update.bind(client), request);
      return fromStruct(response.getProperties());
    },
    async delete(id: string, outputs: Properties) {
      const request = new messages.DeleteRequest();
      request.setId(id);
      request.setProperties(toStruct({ __provider: PROVIDER_TEXT, ...outputs }));
      await call(client.delete.bind(client), request);
    },
    async stop() {
      client.close();
      await ended(child, within.length > 0 ? "SIGKILL" : undefined);
      engine.server.forceShutdown();
      rmSync(folder, { recursive: true, force: true });
    },
    [Symbol.asyncDispose]() {
      return this.stop();
    },
  };
}

/** Stands for the engine: a server that the provider expects to run as long as the engine does. */
function startEngine(): Promise<{ readonly server: grpc.Server; readonly address: string }> {
  const server = new grpc.Server();
  return new Promise((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, port) => {
      if (error) reject(error);
      else resolve({ server, address: `127.0.0.1:${port}` });
    });
  });
}

export function ended(child: ChildProcess, signal?: NodeJS.Signals): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.once("exit", () => resolve());
    child.kill(signal);
  });
}

/** Returns the details of the resource that a failed create or update left behind, if it did. */
export function initFailure(error: unknown): InitFailure | undefined {
  const { metadata, details } = error as grpc.ServiceError;
  const [encoded] = metadata?.get("grpc-status-details-bin") ?? [];
  if (!(encoded instanceof Buffer)) return undefined;
  const { Status } = require("@pulumi/pulumi/proto/status_pb");
  const [detail] = Status.deserializeBinary(encoded).getDetailsList();
  const failure = messages.ErrorResourceInitFailed.deserializeBinary(detail.getValue_asU8());
  return {
    message: details,
    id: failure.getId(),
    properties: fromStruct(failure.getProperties()),
    reasons: failure.getReasonsList(),
  };
}

// biome-ignore lint/suspicious/noExplicitAny: the generated client overloads each method in ways that cannot be named.
export function call<Response>(method: (request: any, callback: any) => unknown, request: unknown): Promise<Response> {
  return new Promise((resolve, reject) => {
    method(request, (error: Error | null, response: Response) => (error ? reject(error) : resolve(response)));
  });
}

export function toStruct(properties: Properties): Struct {
  return Struct.fromJavaScript(properties as Parameters<typeof Struct.fromJavaScript>[0]);
}

export function fromStruct(struct: Struct | undefined): Properties {
  return (struct?.toJavaScript() ?? {}) as Properties;
}
