import { setTimeout as sleep } from "node:timers/promises";
import {
  type Emulator,
  type EmulatorOptions,
  type EndpointInput,
  type Handlers,
  type HttpHandler,
  startEmulator,
} from "../../emulator";
import { type Client, type ClientOptions, createClient, type EndpointAccess } from "../../sdk/client/client";
import { CANARY } from "./emulated";

/** An emulator with one load-balancing endpoint, and a client of it. */
export interface LoadBalanced {
  readonly emulator: Emulator;
  readonly client: Client;
  readonly endpoint: EndpointAccess;
  readonly id: string;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface LoadBalancedOptions {
  /** The HTTP server of the workers. @default an echo */
  readonly handler?: Handlers[string];
  /** Fields of the endpoint. */
  readonly fields?: Partial<EndpointInput>;
  readonly emulator?: EmulatorOptions;
  readonly client?: Partial<ClientOptions>;
}

export async function startLoadBalanced(options: LoadBalancedOptions = {}): Promise<LoadBalanced> {
  const { handler, fields } = options;
  const emulator = await startEmulator({
    apiKey: CANARY,
    profile: "observed",
    coldStartMs: 0,
    drainMs: 0,
    ...(handler && { handlers: { app: handler } }),
    ...options.emulator,
  });
  const { id } = emulator.endpoints.create({
    name: "app",
    gpuIds: "AMPERE_16",
    templateId: "t",
    type: "LB",
    scalerType: "REQUEST_COUNT",
    scalerValue: 4,
    workersMax: 3,
    idleTimeout: 5,
    ...fields,
  });
  const { url } = emulator;
  const client = createClient({ apiKey: CANARY, graphqlUrl: url, restUrl: url, queueUrl: url, ...options.client });
  return {
    emulator,
    client,
    id,
    endpoint: client.endpoint(id),
    async [Symbol.asyncDispose]() {
      await client.close();
      await emulator.stop();
    },
  };
}

/** Resolves when `isTrue` returns `true`. */
export async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await sleep(5);
}

/** An HTTP handler that echoes bodies as they arrive, and holds requests to `/held`. */
export function startScripted() {
  let chunks = 0;
  let requests = 0;
  let aborted = false;
  let respond = () => {};
  const released = new Promise<void>((resolve) => {
    respond = resolve;
  });
  const handler: HttpHandler = {
    async fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname === "/ping") return new Response();
      requests += 1;
      request.signal.addEventListener("abort", () => {
        aborted = true;
      });
      if (pathname === "/held") await released;
      const count = new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          chunks += chunk.length;
          controller.enqueue(chunk);
        },
      });
      return new Response(request.body?.pipeThrough(count) ?? "done");
    },
  };
  return { handler, respond, chunks: () => chunks, requests: () => requests, aborted: () => aborted };
}

/** Sends a request as any HTTP client does, without this package's. */
export function plain({ emulator, id }: LoadBalanced, target: string, init: RequestInit = {}): Promise<Response> {
  const headers = { authorization: `Bearer ${CANARY}`, ...(init.headers as Record<string, string>) };
  return fetch(`${emulator.url}/lb/${id}${target}`, { redirect: "manual", ...init, headers });
}
