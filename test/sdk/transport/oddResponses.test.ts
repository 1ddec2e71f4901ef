import fc from "fast-check";
import { scaledClock } from "../../../emulator";
import { type Client, createClient } from "../../../sdk/client/client";
import { ServerlessGpuError } from "../../../sdk/errors/errors";
import { CANARY, withoutCanary } from "../../support/emulated";
import { addressesOf, type ScriptedAnswer, startScriptedServer } from "../../support/scriptedServer";

const ENDPOINT = { id: "a", name: "llama", gpuIds: "AMPERE_24", templateId: "template", workersMax: 0, pods: [] };
const JOB = { id: "job-1", status: "COMPLETED", delayTime: 1, executionTime: 2, output: { text: "4" } };

/** Every call, and a response that each understands. */
const CALLS: Record<string, { readonly good: unknown; readonly call: (client: Client) => Promise<unknown> }> = {
  list: { good: { data: { myself: { endpoints: [ENDPOINT] } } }, call: ({ endpoints }) => endpoints.list() },
  create: {
    good: { data: { saveEndpoint: ENDPOINT, myself: { endpoints: [] } } },
    call: ({ endpoints }) => endpoints.create({ name: "llama", gpuIds: "AMPERE_24", templateId: "template" }),
  },
  update: {
    good: { data: { saveEndpoint: ENDPOINT, myself: { endpoints: [ENDPOINT] } } },
    call: ({ endpoints }) => endpoints.update("a", { workersMax: 1 }),
  },
  delete: {
    good: { data: { deleteEndpoint: null, saveEndpoint: ENDPOINT, myself: { endpoints: [ENDPOINT] } } },
    call: ({ endpoints }) => endpoints.delete("a", { drainTimeoutMs: 10_000 }),
  },
  discount: {
    good: { data: { myself: { serverlessDiscount: { discountFactor: 1, type: "a", expirationDate: "b" } } } },
    call: ({ endpoints }) => endpoints.getServerlessDiscount(),
  },
  pod: {
    good: { id: "p", env: { A: "b" }, costPerHr: "0.5", machine: { gpuType: { id: "g" } }, portMappings: { 22: 1 } },
    call: ({ pods }) => pods.get("p", { includeMachine: true }),
  },
  run: { good: { id: "job-1", status: "IN_QUEUE" }, call: (client) => client.endpoint("a").run({ input: {} }) },
  runSync: { good: JOB, call: (client) => client.endpoint("a").runSync({ input: {} }, { timeoutMs: 5_000 }) },
  status: { good: JOB, call: (client) => client.endpoint("a").status("job-1") },
  cancel: { good: { id: "job-1", status: "CANCELLED" }, call: (client) => client.endpoint("a").job("job-1").cancel() },
  retry: { good: { ...JOB, status: "FAILED" }, call: (client) => client.endpoint("a").job("job-1").retry() },
  purgeQueue: { good: { removed: 2, status: "completed" }, call: (client) => client.endpoint("a").purgeQueue() },
  health: {
    good: {
      jobs: { completed: 1, failed: 0, inProgress: 0, inQueue: 0, retried: 0 },
      workers: { idle: 0, running: 1 },
    },
    call: (client) => client.endpoint("a").health(),
  },
};

const ODD = fc.oneof(
  fc.constantFrom<unknown>(null, "", 0, -1, 1.5, Number.MAX_SAFE_INTEGER, true, [], {}, [null], CANARY),
  fc.jsonValue({ maxDepth: 2 }),
  fc.constant(JSON.parse('{"__proto__": {"id": "polluted"}, "constructor": 1}')),
);

/** It clears a terminal, sets its title, and turns the direction of what follows. */
const FORGED = "a\u001b[2J\u001b]0;title\u0007\u009b\u202e\nendpoint b: fine";

/** Returns the response with one of its values, at any depth, replaced or left out. */
function mutated(good: unknown): fc.Arbitrary<unknown> {
  const paths = pathsOf(good);
  return fc.tuple(fc.constantFrom(...paths), fc.option(ODD)).map(([path, odd]) => {
    const copy: unknown = structuredClone({ root: good });
    const parent = ["root", ...path].slice(0, -1).reduce<unknown>((at, key) => (at as never)[key], copy) as object;
    const key = path.at(-1) ?? "root";
    if (odd === null) Reflect.deleteProperty(parent, key);
    else Reflect.set(parent, key, odd);
    return (copy as { root?: unknown }).root ?? null;
  });
}

function pathsOf(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== "object" || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, each]) => pathsOf(each, [...path, key]))];
}

function answers(good: unknown): fc.Arbitrary<ScriptedAnswer> {
  const text = JSON.stringify(good);
  const body = fc.oneof(
    { weight: 6, arbitrary: mutated(good) },
    { weight: 2, arbitrary: ODD },
    { weight: 1, arbitrary: fc.nat(text.length).map((length) => text.slice(0, length)) },
    { weight: 1, arbitrary: fc.string({ unit: "binary" }) },
    { weight: 1, arbitrary: fc.record({ errors: fc.array(fc.oneof(ODD, fc.record({ message: ODD }))) }) },
  );
  const status = fc.oneof(
    { weight: 8, arbitrary: fc.constant(200) },
    { arbitrary: fc.integer({ min: 200, max: 599 }), weight: 1 },
  );
  return fc.record({ status: status.filter((code) => ![204, 205, 304].includes(code)), body });
}

test.each(Object.entries(CALLS))(
  "%s ends with a result or a typed error without the key, whatever the response",
  async (_name, { good, call }) => {
    let answer: ScriptedAnswer = { body: good };
    await using server = await startScriptedServer(() => answer);
    await fc.assert(
      fc.asyncProperty(answers(good), async (odd) => {
        answer = odd;
        const client = createClient({
          apiKey: CANARY,
          ...addressesOf(server),
          clock: scaledClock(2_000),
          retry: { maxAttempts: 2, maxElapsedMs: 20_000_000 },
          attemptTimeoutMs: 20_000_000,
          rateLimits: "off",
        });
        const error = await call(client).then(
          () => undefined,
          (reason: unknown) => reason,
        );
        await client.close();
        if (error !== undefined && !(error instanceof ServerlessGpuError)) throw error;
        if (error !== undefined) withoutCanary(error);
        expect(({} as { id?: unknown }).id).toBeUndefined();
      }),
      { numRuns: 80 },
    );
  },
  60_000,
);

test.each(Object.entries(CALLS))("no error of %s contains control characters", async (_name, { call }) => {
  const bodies = [FORGED, { id: FORGED }, { error: FORGED }, { errors: [{ message: FORGED }] }, `<html>${FORGED}`];
  for (const [status, body] of [200, 400, 404, 500].flatMap((each) => bodies.map((body) => [each, body] as const))) {
    await using server = await startScriptedServer(() => ({ status, body }));
    const options = { rateLimits: "off", retry: { maxAttempts: 1 }, clock: scaledClock(2_000) } as const;
    const client = createClient({ apiKey: CANARY, ...addressesOf(server), ...options });
    const error = await call(client).then(
      () => undefined,
      (reason: unknown) => reason as Error,
    );
    await client.close();
    // Some errors have several lines of our own.
    const lines = (error?.message ?? "").split("\n");
    expect(lines.filter((line) => /^endpoint b|[\p{Control}\p{Format}\u2028\u2029]/u.test(line))).toEqual([]);
  }
});
