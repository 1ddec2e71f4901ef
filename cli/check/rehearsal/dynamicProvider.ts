import { type ChildProcess, spawn } from "node:child_process";
import { classOf } from "../../stack";
import { type Call, type Done, type Handlers, type Message, NO_LIMIT, type Protocol } from "./protocol";

/** The name under which the engine knows Pulumi's own provider of dynamic resources. */
export const DYNAMIC = "pulumi-nodejs";

/** Ends the process when its parent ends, even after `kill -9`. The first argument is the path. */
const START = 'process.stdin.on("end", () => process.exit()).resume(); require(process.argv[1]);';

/** A process of Pulumi's own provider of dynamic resources. */
interface Started {
  /** The address of the engine that uses it. */
  readonly engine: string;
  readonly child: ChildProcess;
  readonly client: Message;
}

/**
 * Returns handlers that pass the calls for this package's resources to Pulumi's own provider of
 * dynamic resources. Calls for all other dynamic resources go to `others`.
 */
export function ownDynamicResources(
  protocol: Protocol,
  others: Handlers,
  where: { folder: string; env: Readonly<Record<string, string>> },
): { readonly handlers: Handlers; stop(): void } {
  // The engine connects once for each provider of the program, and configures it.
  const byConnection = new Map<string, Started>();
  const end = (isEnded: (started: Started) => boolean) => {
    for (const [connection, started] of byConnection) {
      if (!isEnded(started)) continue;
      byConnection.delete(connection);
      started.client.close();
      started.child.kill("SIGKILL");
    }
  };
  const attach = async (call: Call) => {
    const engine = call.request.getAddress();
    end((started) => started.engine !== engine);
    byConnection.set(call.getPeer(), await startProvider(engine, protocol, where));
  };
  const forward = (name: string) => (call: Call, done: Done) =>
    byConnection.get(call.getPeer())?.client[name](call.request, done);
  const ofOthers = (name: string) => others[name] as Handlers[string];
  const ownOnly = (name: string): [string, Handlers[string]] => [
    name,
    (call, done) => (isOwn(call.request) ? forward(name)(call, done) : ofOthers(name)(call, done)),
  ];
  const handlers = {
    ...others,
    attach: (call: Call, done: Done) => {
      attach(call).then(
        () => ofOthers("attach")(call, done),
        (error: Error) => done({ code: protocol.grpc.status.UNAVAILABLE, message: error.message }),
      );
    },
    configure: forward("configure"),
    cancel: forward("cancel"),
    ...Object.fromEntries(["check", "diff", "create", "read", "update", "delete"].map(ownOnly)),
  };
  return { handlers, stop: () => end(() => true) };
}

async function startProvider(
  engine: string,
  { grpc, services, dynamicProvider }: Protocol,
  { folder, env }: { folder: string; env: Readonly<Record<string, string>> },
): Promise<Started> {
  const words = ["-e", START, dynamicProvider, engine];
  const child = spawn("node", words, { cwd: folder, env, stdio: ["pipe", "pipe", "ignore"] });
  child.stdin.on("error", () => {});
  const port = await new Promise<string>((resolve, reject) => {
    let printed = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      printed += text;
      const [, found] = /^(\d+)\n/.exec(printed) ?? [];
      if (found !== undefined) resolve(found);
    });
    child.on("error", reject);
    child.on("exit", (code) => reject(new Error(`the provider of dynamic resources ended with ${code}`)));
  });
  const address = `127.0.0.1:${port}`;
  const client = new services.ResourceProviderClient(address, grpc.credentials.createInsecure(), NO_LIMIT);
  return { engine, child, client };
}

const isOwn = (request: Message) => {
  const type = String(request.getUrn()).split("::")[2] ?? "";
  return classOf(type.split("$").at(-1) ?? "") !== undefined;
};
