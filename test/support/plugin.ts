import { spawn } from "node:child_process";
import path from "node:path";
import * as grpc from "@grpc/grpc-js";
import { EngineService } from "@pulumi/pulumi/proto/engine_grpc_pb";
import type { LogRequest } from "@pulumi/pulumi/proto/engine_pb";
import { ResourceProviderClient } from "@pulumi/pulumi/proto/provider_grpc_pb";
import * as messages from "@pulumi/pulumi/proto/provider_pb";
import { Empty } from "google-protobuf/google/protobuf/empty_pb";
import { COMPILE_CACHE } from "./compiledCode";
import { call, ended, fromStruct, type Properties, toStruct } from "./dynamicProvider";

/** Folder of the built plugin. */
export const PLUGIN_FOLDER = path.resolve(__dirname, "../../plugin/bin");

/** A line that the plugin logs through the engine. */
export interface LoggedLine {
  readonly severity: number;
  readonly message: string;
  readonly urn: string;
}

/** The kind and the name of the resource of a call. */
export interface Subject {
  readonly kind: string;
  /** @default one */
  readonly name?: string;
}

/** A value as the protocol marks it secret. */
export function secret(value: unknown): Properties {
  return { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", value };
}

export function urnOf({ kind, name = "one" }: Subject): string {
  return `urn:pulumi:dev::test::${typeOf(kind)}::${name}`;
}

function typeOf(kind: string): string {
  return `serverless-gpu:index:${kind}`;
}

/** The built plugin as a process of its own, spoken to as the engine does, over gRPC. */
export async function startPlugin(
  env: Readonly<Record<string, string>>,
  {
    config = {},
    provider = "default",
    folder = PLUGIN_FOLDER,
  }: { config?: Readonly<Record<string, string>>; provider?: string; folder?: string } = {},
) {
  const engine = await startEngine();
  const child = spawn(path.join(folder, "pulumi-resource-serverless-gpu"), [engine.address], {
    env: { PATH: process.env.PATH, ...COMPILE_CACHE, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  const port = await new Promise<string>((resolve, reject) => {
    const collect = (chunk: Buffer) => {
      output += chunk;
      const line = /^([0-9]+)\n/.exec(output);
      if (line?.[1]) resolve(line[1]);
    };
    child.stdout.on("data", collect);
    child.stderr.on("data", collect);
    child.on("error", reject);
    child.on("exit", () => reject(new Error(`the plugin ended: ${output}`)));
  });
  const client = new ResourceProviderClient(`127.0.0.1:${port}`, grpc.credentials.createInsecure());
  const configure = new messages.ConfigureRequest();
  configure.setName(provider);
  for (const [key, value] of Object.entries(config)) {
    configure.getVariablesMap().set(`serverless-gpu:config:${key}`, value);
  }
  await call(client.configure.bind(client), configure);

  return {
    client,
    process: child,
    engine: engine.server,
    /** The lines that it logged through the engine. */
    lines: engine.lines,
    /** All that the process printed. */
    output: () => output,
    async check(subject: Subject, news: Properties, olds: Properties = {}, autonaming?: [name: string, mode: number]) {
      const request = new messages.CheckRequest();
      request
        .setUrn(urnOf(subject))
        .setType(typeOf(subject.kind))
        .setName(subject.name ?? "one");
      request.setOlds(toStruct(olds)).setNews(toStruct(news));
      if (autonaming) {
        const options = new messages.CheckRequest.AutonamingOptions();
        request.setAutonaming(options.setProposedName(autonaming[0]).setMode(autonaming[1]));
      }
      const response = await call<messages.CheckResponse>(client.check.bind(client), request);
      return {
        inputs: fromStruct(response.getInputs()),
        failures: response.getFailuresList().map((each) => each.toObject()),
      };
    },
    async diff(
      subject: Subject,
      id: string,
      olds: Properties,
      oldInputs: Properties,
      news: Properties,
      { ignoreChanges = [] as string[] } = {},
    ) {
      const request = new messages.DiffRequest().setIgnorechangesList(ignoreChanges);
      request.setId(id).setUrn(urnOf(subject)).setType(typeOf(subject.kind));
      request.setOlds(toStruct(olds)).setOldInputs(toStruct(oldInputs)).setNews(toStruct(news));
      const response = await call<messages.DiffResponse>(client.diff.bind(client), request);
      const properties: Record<string, string | undefined> = {};
      response.getDetaileddiffMap().forEach((difference, property) => {
        properties[property] = KINDS[difference.getKind()];
      });
      return {
        changes: ["unknown", "none", "some"][response.getChanges()],
        replaces: response.getReplacesList(),
        deleteBeforeReplace: response.getDeletebeforereplace(),
        properties,
      };
    },
    async create(subject: Subject, inputs: Properties, { preview = false, timeout = 0 } = {}) {
      const request = new messages.CreateRequest();
      request.setUrn(urnOf(subject)).setType(typeOf(subject.kind)).setPreview(preview).setTimeout(timeout);
      request.setProperties(toStruct(inputs));
      const response = await call<messages.CreateResponse>(client.create.bind(client), request);
      return { id: response.getId(), outputs: fromStruct(response.getProperties()) };
    },
    async read(subject: Subject, id: string, outputs: Properties = {}, inputs: Properties = {}) {
      const request = new messages.ReadRequest();
      request.setId(id).setUrn(urnOf(subject)).setType(typeOf(subject.kind));
      request.setProperties(toStruct(outputs)).setInputs(toStruct(inputs));
      const response = await call<messages.ReadResponse>(client.read.bind(client), request);
      return {
        id: response.getId(),
        outputs: fromStruct(response.getProperties()),
        inputs: fromStruct(response.getInputs()),
      };
    },
    async update(
      subject: Subject,
      id: string,
      olds: Properties,
      oldInputs: Properties,
      news: Properties,
      { preview = false, timeout = 0, ignoreChanges = [] as string[] } = {},
    ) {
      const request = new messages.UpdateRequest().setIgnorechangesList(ignoreChanges);
      request.setId(id).setUrn(urnOf(subject)).setType(typeOf(subject.kind)).setPreview(preview).setTimeout(timeout);
      request.setOlds(toStruct(olds)).setOldInputs(toStruct(oldInputs)).setNews(toStruct(news));
      const response = await call<messages.UpdateResponse>(client.update.bind(client), request);
      return fromStruct(response.getProperties());
    },
    async delete(subject: Subject, id: string, outputs: Properties, { timeout = 0 } = {}) {
      const request = new messages.DeleteRequest();
      request.setId(id).setUrn(urnOf(subject)).setType(typeOf(subject.kind)).setTimeout(timeout);
      request.setProperties(toStruct(outputs));
      await call(client.delete.bind(client), request);
    },
    async invoke(name: string, args: Properties = {}) {
      const request = new messages.InvokeRequest();
      request.setTok(typeOf(name)).setArgs(toStruct(args));
      const response = await call<messages.InvokeResponse>(client.invoke.bind(client), request);
      return fromStruct(response.getReturn());
    },
    async cancel() {
      await call(client.cancel.bind(client), new Empty());
    },
    async stop() {
      client.close();
      await ended(child);
      engine.server.forceShutdown();
    },
    [Symbol.asyncDispose]() {
      return this.stop();
    },
  };
}

const KINDS = ["add", "add replace", "delete", "delete replace", "update", "update replace"];

/** The engine as the plugin sees it: it takes log lines. */
function startEngine(): Promise<{
  readonly server: grpc.Server;
  readonly address: string;
  readonly lines: LoggedLine[];
}> {
  const lines: LoggedLine[] = [];
  const server = new grpc.Server();
  const log: grpc.handleUnaryCall<LogRequest, Empty> = ({ request }, callback) => {
    lines.push({ severity: request.getSeverity(), message: request.getMessage(), urn: request.getUrn() });
    callback(null, new Empty());
  };
  server.addService(EngineService, { log });
  return new Promise((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, port) => {
      if (error) reject(error);
      else resolve({ server, address: `127.0.0.1:${port}`, lines });
    });
  });
}
