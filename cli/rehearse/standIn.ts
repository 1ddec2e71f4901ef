import { createRequire } from "node:module";
import path from "node:path";

/*
 * Stands in for every provider of another package. The engine attaches to it instead of starting
 * that provider (PULUMI_DEBUG_PROVIDERS), so the provider gets no call. What state holds stays,
 * what is new exists nowhere, and a function is refused.
 */

/** A running stand-in. */
export interface StandIn {
  /** The value of `PULUMI_DEBUG_PROVIDERS` for these packages. */
  readonly env: Readonly<Record<string, string>>;
  /** The functions of other packages that the program called, and that were refused. */
  readonly refused: readonly string[];
  stop(): void;
}

// biome-ignore lint/suspicious/noExplicitAny: the generated messages have no types of their own
type Message = any;
type Call = { readonly request: Message };
type Done = (error: object | null, response?: Message) => void;

const UNIMPLEMENTED = 12;

/**
 * Starts a stand-in for these packages.
 * @throws Error if `@pulumi/pulumi`, which has the protocol, is not installed
 */
export async function startStandIn(packages: readonly string[], project: string): Promise<StandIn> {
  if (packages.length === 0) return { env: {}, refused: [], stop() {} };
  const { grpc, services, messages, empty, structs } = protocol(packages, project);
  const refused: string[] = [];
  const server = new grpc.Server();
  const respond = (make: (request: Message) => Message) => (call: Call, done: Done) => done(null, make(call.request));
  const refuse = (call: Call, done: Done) => {
    const token = String(call.request.getTok?.() ?? call.request.getType?.() ?? "a call");
    refused.push(token);
    done({ code: UNIMPLEMENTED, message: `${token} is of another provider, and a rehearsal calls no other provider` });
  };
  const same = () => new messages.DiffResponse().setChanges(1);
  server.addService(services.ResourceProviderService, {
    getPluginInfo: respond(() => new messages.PluginInfo().setVersion("0.0.0")),
    configure: respond(() =>
      new messages.ConfigureResponse().setAcceptsecrets(true).setSupportspreview(false).setAcceptresources(true),
    ),
    checkConfig: respond((request) => new messages.CheckResponse().setInputs(request.getNews())),
    diffConfig: respond(same),
    check: respond((request) => new messages.CheckResponse().setInputs(request.getNews())),
    diff: respond((request) => {
      const [olds, news] = [request.getOldInputs() ?? request.getOlds(), request.getNews()];
      return isSame(olds, news) ? same() : new messages.DiffResponse().setChanges(2);
    }),
    create: respond((request) =>
      new messages.CreateResponse().setId("rehearsal").setProperties(request.getProperties()),
    ),
    update: respond((request) => new messages.UpdateResponse().setProperties(request.getOlds())),
    read: respond((request) =>
      new messages.ReadResponse()
        .setId(request.getId())
        .setProperties(request.getProperties())
        .setInputs(request.getInputs() ?? new structs.Struct()),
    ),
    delete: respond(() => new empty.Empty()),
    cancel: respond(() => new empty.Empty()),
    ...{
      attach: respond(() => new empty.Empty()),
      invoke: refuse,
      streamInvoke: refuse,
      call: refuse,
      construct: refuse,
      getSchema: refuse,
    },
  });
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error: Error | null, bound: number) =>
      error ? reject(error) : resolve(bound),
    ),
  );
  const env = { PULUMI_DEBUG_PROVIDERS: packages.map((name) => `${name}:${port}`).join(",") };
  return { env, refused, stop: () => server.forceShutdown() };
}

const isSame = (one: Message, other: Message) =>
  JSON.stringify(sorted(one?.toJavaScript() ?? {})) === JSON.stringify(sorted(other?.toJavaScript() ?? {}));

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, each]) => [name, sorted(each)]),
  );
}

function protocol(packages: readonly string[], project: string) {
  try {
    const sdk = require.resolve("@pulumi/pulumi/package.json", { paths: [project, __dirname] });
    const load = createRequire(path.join(path.dirname(sdk), "index.js"));
    return {
      grpc: load("@grpc/grpc-js"),
      services: load("./proto/provider_grpc_pb.js"),
      messages: { ...load("./proto/provider_pb.js"), ...load("./proto/plugin_pb.js") },
      empty: load("google-protobuf/google/protobuf/empty_pb.js"),
      structs: load("google-protobuf/google/protobuf/struct_pb.js"),
    };
  } catch (cause) {
    throw new Error(
      `the stack has resources of ${packages.join(", ")}, which a rehearsal must keep from running. For that it needs the npm ` +
        "package @pulumi/pulumi: run npm install @pulumi/pulumi, and try again",
      { cause },
    );
  }
}
