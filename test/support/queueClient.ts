import { type Emulator, type EmulatorOptions, type ManualClock, manualClock, startEmulator } from "../../emulator";
import { type Answer, send } from "./plainClient";

type EndpointInput = Parameters<Emulator["endpoints"]["create"]>[0];

/** An emulator on a manual clock, with one endpoint. */
export interface QueueTest {
  readonly emulator: Emulator;
  readonly clock: ManualClock;
  readonly endpointId: string;
  get(path: string): Promise<Answer>;
  post(path: string, body?: unknown): Promise<Answer>;
  /** Submits a job with `/run` and returns its id. */
  run(input: object, more?: object): Promise<string>;
  /**
   * Sends a request, and resolves when the emulator has received it. `answer` resolves with the
   * response.
   */
  begin(path: string, body?: unknown, method?: "GET" | "POST"): Promise<{ readonly answer: Promise<Answer> }>;
  /** Returns the record of a job. */
  job(id: string): Promise<Answer["body"]>;
  health(): Promise<Answer["body"]>;
  pods(): readonly { readonly id: string; readonly slsVersion: number }[];
}

const open: Emulator[] = [];

/** Stops all emulators. Must be called after each test. */
export async function stopAll(): Promise<void> {
  for (const emulator of open.splice(0)) await emulator.stop();
}

/**
 * Starts an emulator with an endpoint. By default one worker always runs, workers start and stop
 * without delay, and there are no rate limits.
 */
export async function startQueue(
  endpoint: Partial<EndpointInput> = {},
  options: Omit<EmulatorOptions, "clock"> = {},
): Promise<QueueTest> {
  const clock = manualClock(Date.UTC(2025, 0, 1));
  const emulator = await startEmulator({
    profile: "contract",
    coldStartMs: 0,
    drainMs: 0,
    rateLimits: { limits: "off" },
    ...options,
    clock,
  });
  open.push(emulator);
  const required = { name: "worker", gpuIds: "AMPERE_16", templateId: "template-1" };
  const { id: endpointId } = emulator.endpoints.create({ ...required, workersMin: 1, workersMax: 1, ...endpoint });
  await clock.advance(0);

  const headers = { authorization: `Bearer ${emulator.apiKey}`, "content-type": "application/json" };
  const url = (path: string) => `${emulator.url}/v2/${endpointId}/${path}`;
  const get = (path: string) => send(url(path), { headers });
  const post = (path: string, body?: unknown) => {
    const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
    return send(url(path), { method: "POST", headers, ...(text !== undefined && { body: text }) });
  };

  return {
    emulator,
    clock,
    endpointId,
    get,
    post,
    async run(input, more) {
      const { status, body, text } = await post("run", { input, ...more });
      if (status !== 200) throw new Error(`/run returned ${status}: ${text}`);
      return body.id;
    },
    async begin(path, body, method = "POST") {
      const pending = () => emulator.journal.requests({ outcome: "pending" }).length;
      const before = pending();
      let answered = false;
      const answer = (method === "GET" ? get(path) : post(path, body)).finally(() => {
        answered = true;
      });
      while (pending() === before && !answered) await new Promise((resolve) => setImmediate(resolve));
      return { answer };
    },
    job: async (id) => (await get(`status/${id}`)).body,
    health: async () => (await get("health")).body,
    pods: () => emulator.endpoints.get(endpointId)?.pods ?? [],
  };
}
