import { DYNAMIC, ownDynamicResources } from "./dynamicProvider";
import { type Call, type Done, type Handlers, type Message, NO_LIMIT, type Protocol, protocolFor } from "./protocol";

/*
 * Stands in for every provider of another package. The engine attaches to it instead of starting
 * that provider (PULUMI_DEBUG_PROVIDERS), so the provider gets no call. Resources in state stay as
 * they are, new resources are not created anywhere, and function calls are rejected.
 */

/** A running stand-in for other providers. */
export interface StandIn {
  /** The value of `PULUMI_DEBUG_PROVIDERS` with which the engine attaches to the stand-in. */
  readonly env: Readonly<Record<string, string>>;
  /**
   * Stands in for one more package. Returns the value of `env` from then on.
   * @throws Error if `@pulumi/pulumi`, which has the protocol, is not installed
   */
  leaveOut(name: string): Readonly<Record<string, string>>;
  stop(): void;
}

const UNIMPLEMENTED = 12;

/** Pulumi's own providers of dynamic resources, which the engine would start without a plugin. */
const BUNDLED = [DYNAMIC, "pulumi-python"];
/**
 * No process listens on this port, so the engine cannot attach to the provider, and does not start
 * it either.
 */
const CLOSED_PORT = 1;

/** Where the engine of the rehearsal runs. */
export interface Where {
  /** The folder of the program. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Starts a stand-in for these packages, and for dynamic resources that are not of this package.
 * @throws Error if `@pulumi/pulumi`, which has the protocol, is needed and not installed
 */
export async function startStandIn(packages: readonly string[], where: Where): Promise<StandIn> {
  const protocol = protocolFor(where.folder);
  if (protocol === undefined) {
    const needed = packages.filter((name) => !BUNDLED.includes(name));
    if (needed.length > 0) throw new Error(withoutProtocol(needed));
    const leaveOut = (name: string) => {
      throw new Error(withoutProtocol([name]));
    };
    return { env: variable(BUNDLED.map((name) => [name, CLOSED_PORT])), leaveOut, stop() {} };
  }
  const { grpc, services } = protocol;
  const others = othersHandlers(protocol);
  const own = ownDynamicResources(protocol, others, where);
  const servers: Message[] = [];
  const serve = async (handlers: Handlers): Promise<number> => {
    const server = new grpc.Server(NO_LIMIT);
    servers.push(server);
    server.addService(services.ResourceProviderService, handlers);
    return new Promise<number>((resolve, reject) =>
      server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error: Error | null, bound: number) =>
        error ? reject(error) : resolve(bound),
      ),
    );
  };
  const port = await serve(others);
  const names = new Set([...packages, ...BUNDLED].filter((name) => name !== DYNAMIC));
  const ownPort = await serve(own.handlers);
  const env = () => variable([[DYNAMIC, ownPort], ...[...names].map((name) => [name, port] as const)]);
  return {
    env: env(),
    leaveOut(name) {
      names.add(name);
      return env();
    },
    stop() {
      own.stop();
      for (const server of servers) server.forceShutdown();
    },
  };
}

const variable = (ports: readonly (readonly [string, number])[]) => ({
  PULUMI_DEBUG_PROVIDERS: ports.map(([name, port]) => `${name}:${port}`).join(","),
});

const withoutProtocol = (packages: readonly string[]) =>
  `the stack has resources of ${packages.join(", ")}. So that a rehearsal does not start these providers, it needs the npm package ` +
  "@pulumi/pulumi: run npm install @pulumi/pulumi, and try again";

/** Returns handlers that keep the resources in state as they are, and call nothing. */
function othersHandlers({ messages, empty, structs }: Protocol): Handlers {
  const respond = (make: (request: Message) => Message) => (call: Call, done: Done) => done(null, make(call.request));
  const refuse = (call: Call, done: Done) => {
    const token = String(call.request.getTok?.() ?? call.request.getType?.() ?? "a call");
    done({ code: UNIMPLEMENTED, message: `${token} belongs to another provider, which a rehearsal does not call` });
  };
  const same = () => new messages.DiffResponse().setChanges(1);
  const nothing = respond(() => new empty.Empty());
  return {
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
    parameterize: respond((request) => {
      const { name, version } = request.getValue()?.toObject() ?? { name: "", version: "" };
      return new messages.ParameterizeResponse().setName(name).setVersion(version);
    }),
    delete: nothing,
    cancel: nothing,
    attach: nothing,
    invoke: refuse,
    streamInvoke: refuse,
    call: refuse,
    construct: refuse,
    getSchema: refuse,
  };
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
