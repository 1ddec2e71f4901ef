import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Kind as AstKind, parse, type ValueNode, valueFromASTUntyped } from "graphql";
import { answerGraphql } from "./graphql";
import { Account, KINDS, type Kind, type Settings } from "./held";
import { answerQueue } from "./queueHost";
import { answerV2, routeOf } from "./restV2";

/** A request as the stand-in understands it. */
export interface Request {
  /** Its number, from 1, since `begin` was called. */
  readonly number: number;
  readonly api: "graphql" | "v2" | "queue";
  readonly account: string;
  /** `saveEndpoint`, `PATCH`, `myself` … */
  readonly operation: string;
  readonly kind: Kind | undefined;
  readonly id: string | undefined;
  /** `undefined` for a read. */
  readonly write: "create" | "change" | "delete" | undefined;
}

/** A write that the service accepted: the record right before it and right after it. */
export interface Write extends Request {
  readonly before: Settings | undefined;
  readonly after: Settings | undefined;
  readonly run: number;
}

/** What happens to one exchange. Without one, the service answers truly. */
export interface Meddler {
  /**
   * Called before the service acts. "drop" breaks the connection: nothing happens. "accepted": the
   * service acts now, and had accepted the request when it arrived.
   */
  before?(request: Request): Promise<"drop" | "accepted" | undefined> | undefined;
  /** Called after the service has acted. "drop" breaks the connection: the answer is lost. */
  after?(request: Request): Promise<"drop" | undefined> | undefined;
  /** True if a read shows what the account held before its last write. */
  isOld?(request: Request): boolean;
  /** Changes the answer. */
  lie?(request: Request, answer: unknown): unknown;
}

const WRITES: Readonly<Record<string, readonly [Kind, Request["write"]]>> = {
  saveEndpoint: ["endpoint", "create"],
  deleteEndpoint: ["endpoint", "delete"],
  saveTemplate: ["template", "create"],
  deleteTemplate: ["template", "delete"],
  createNetworkVolume: ["volume", "create"],
  updateNetworkVolume: ["volume", "change"],
  deleteNetworkVolume: ["volume", "delete"],
  saveRegistryAuth: ["auth", "create"],
  updateRegistryAuth: ["auth", "change"],
  deleteRegistryAuth: ["auth", "delete"],
  secretCreate: ["secret", "create"],
  secretValueUpdate: ["secret", "change"],
  secretDescriptionUpdate: ["secret", "change"],
  secretDelete: ["secret", "delete"],
};

type Parsed = Pick<Request, "operation" | "kind" | "id" | "write">;

/** Reads the operation, the kind and the id from a document. */
function parseDocument(account: Account, document: string): Parsed {
  const none = { kind: undefined, id: undefined, write: undefined };
  const [definition] = parse(document).definitions;
  if (definition?.kind !== AstKind.OPERATION_DEFINITION) return { operation: "", ...none };
  const [field] = definition.selectionSet.selections;
  if (field?.kind !== AstKind.FIELD) return { operation: "", ...none };
  const operation = field.name.value;
  const args = Object.fromEntries((field.arguments ?? []).map((each) => [each.name.value, untyped(each.value)]));
  const input = (args.input ?? args) as Record<string, string | undefined>;
  const found = WRITES[operation];
  if (!found) return { operation, ...none };
  const [kind, write] = found;
  const named = [...account.records.template.values()].find(({ name }) => name === input.templateName);
  const id = input.id ?? input.registryAuthId ?? named?.id;
  return { operation, kind, id, write: write === "create" && id !== undefined ? "change" : write };
}

const untyped = (node: ValueNode) => valueFromASTUntyped(node) as unknown;

function parseV2(method: string, path: string): Parsed {
  const { kind, id, part } = routeOf(path) ?? { kind: undefined, id: undefined, part: "" };
  const writes: Readonly<Record<string, Request["write"]>> = { POST: "create", PATCH: "change", DELETE: "delete" };
  return { operation: part ? `${method} ${part}` : method, kind, id, write: writes[method] };
}

export interface StandIn extends AsyncDisposable {
  readonly url: string;
  /** Variables of an environment that leads to the service. */
  readonly env: Readonly<Record<string, string>>;
  readonly accounts: Readonly<Record<string, Account>>;
  /** The first account. */
  readonly account: Account;
  /** All accepted writes since the start. */
  readonly writes: readonly Write[];
  /** All requests of the present run. */
  readonly requests: readonly Request[];
  /** Begins a run: requests count from 1, and this meddler meddles. */
  begin(meddler?: Meddler): void;
}

/** Starts the service. `keys` gives the account of each API key. */
export async function startStandIn(keys: Readonly<Record<string, string>> = { "key-a": "aaa" }): Promise<StandIn> {
  const accounts = Object.fromEntries(Object.values(keys).map((id) => [id, new Account(id)]));
  const writes: Write[] = [];
  const old = new Map<string, Account>();
  let requests: Request[] = [];
  let meddler: Meddler = {};
  let run = 0;

  async function handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(incoming.url ?? "/", "http://stand-in");
    const text = await textOf(incoming);
    const key = url.searchParams.get("api_key") ?? (incoming.headers.authorization ?? "").replace(/^Bearer /i, "");
    const account = accounts[keys[key] ?? ""];
    if (!account) return send(response, 401, { title: "Unauthorized", status: 401, detail: "invalid api key" });
    const api = apiOf(url.pathname);
    const path = url.pathname.replace(/^\/v2/, "");
    const body = text === "" ? {} : JSON.parse(text);
    const method = incoming.method ?? "GET";
    const asked = api === "graphql" ? parseDocument(account, body.query) : parseV2(method, path);
    const queueOnly = { kind: undefined, id: undefined, write: undefined };
    const request: Request = {
      number: requests.length + 1,
      api,
      account: account.id,
      ...(api === "queue" ? { operation: path, ...queueOnly } : asked),
    };
    requests.push(request);
    const own = meddler;
    const verdict = await own.before?.(request);
    if (verdict === "drop") return void incoming.socket.destroy();
    const before = snapshot(account);
    const shown = (!request.write && own.isOld?.(request) && old.get(account.id)) || account;
    if (request.write) old.set(account.id, account.copy());
    if (verdict === "accepted") switchOff(account, request);
    const answer =
      api === "graphql"
        ? await answerGraphql(shown, body.query)
        : api === "v2"
          ? answerV2(shown, method, path, body)
          : answerQueue(shown, path, body);
    if (request.write) writes.push(...written(request, before, snapshot(account), run));
    if ((await own.after?.(request)) === "drop") return void incoming.socket.destroy();
    const told = answer.status < 400 && own.lie ? own.lie(request, structuredClone(answer.body)) : answer.body;
    send(response, answer.status, told);
  }

  const server = createServer((incoming, response) => {
    handle(incoming, response).catch((error) =>
      send(response, 500, { title: "stand-in failed", detail: String(error) }),
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    env: {
      SERVERLESS_GPU_SERVICE: "runpod",
      SERVERLESS_GPU_GRAPHQL_URL: url,
      SERVERLESS_GPU_REST_URL: url,
      SERVERLESS_GPU_QUEUE_URL: `${url}/queue`,
      SERVERLESS_GPU_API_KEY: Object.keys(keys)[0] ?? "",
    },
    accounts,
    account: Object.values(accounts)[0] as Account,
    writes,
    get requests() {
      return requests;
    },
    begin(next = {}) {
      meddler = next;
      requests = [];
      run += 1;
    },
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** An endpoint whose deletion was accepted has no workers. */
function switchOff(account: Account, { kind, id, write }: Request): void {
  const endpoint = kind === "endpoint" && write === "delete" ? account.records.endpoint.get(id ?? "") : undefined;
  if (endpoint) Object.assign(endpoint, { workersMin: 0, workersMax: 0 });
}

const apiOf = (path: string) => (path.startsWith("/graphql") ? "graphql" : path.startsWith("/queue") ? "queue" : "v2");

/** Everything that an account holds, by kind and id. */
type Snapshot = ReadonlyMap<string, Settings>;

function snapshot(account: Account): Snapshot {
  const all = KINDS.flatMap((kind) =>
    [...account.records[kind].values()]
      // A template that belongs to an endpoint is a part of the endpoint.
      .filter((record) => !("boundEndpointId" in record && record.boundEndpointId))
      .map(({ id }) => [`${kind} ${id}`, account.settings(kind, id) ?? {}] as const),
  );
  return new Map(all);
}

/** Returns what a request wrote: each record that it made, changed or removed. */
function written(request: Request, before: Snapshot, after: Snapshot, run: number): Write[] {
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((each) => JSON.stringify(before.get(each)) !== JSON.stringify(after.get(each)))
    .map((each) => {
      const [kind, id] = each.split(" ") as [Kind, string];
      const [was, is] = [before.get(each), after.get(each)];
      const write = was === undefined ? "create" : is === undefined ? "delete" : "change";
      return { ...request, kind, id, write, before: was, after: is, run };
    });
}

async function textOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

function send(response: ServerResponse, status: number, body: unknown): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, { "content-type": status < 400 ? "application/json" : "application/problem+json" });
  response.end(body === undefined ? undefined : JSON.stringify(body));
}
