import { redactLine } from "../../../sdk/logs/redactLine";
import { collect } from "../../support/collect";
import { startEmulated } from "../../support/emulated";

const start = (api: "v2" | "graphql" = "v2") =>
  startEmulated({
    emulator: { profile: "observed", handlers: { default: speak } },
    client: { api, service: "runpod" },
  });

/** Prints its input, and ends after a second. */
const speak = async (
  { input }: { input: unknown },
  { log, sleep }: { log(line: string): void; sleep(ms: number): unknown },
) => {
  log(String((input as { say: string }).say));
  await sleep(1000);
};

const ENDPOINT = { id: "endpoint1234", name: "e", templateId: "t", gpuIds: "ADA_24", workersMin: 1, workersMax: 1 };

test("logs yields the lines of all workers, and ends when no more lines arrive", async () => {
  await using emulated = await start();
  const { client, emulator, run, clock } = emulated;
  emulator.seed({ endpoints: [ENDPOINT] });
  await clock.advance(1000);
  await run(run(client.endpoint(ENDPOINT.id).run({ input: { say: "hello" } })).then((job) => job.wait()));
  const lines = await run(collect(client.endpoints.logs(ENDPOINT.id)));
  expect(lines.map(({ source, line }) => [source, line])).toEqual([
    ["system", "create container example/image:latest"],
    ["system", "start container for example/image:latest: begin"],
    ["container", "--- Starting Serverless Worker ---"],
    ["container", "hello"],
  ]);
  expect(lines[0]?.workerId).toBe(emulator.endpoints.get(ENDPOINT.id)?.pods[0]?.id);
  const own = await run(collect(client.endpoints.logs(ENDPOINT.id, { source: "container", tail: 1 })));
  expect(own.map(({ line }) => line)).toEqual(["hello"]);
});

test("follow continues after a broken connection, and drops duplicate lines", async () => {
  await using emulated = await start();
  const { client, emulator, run, clock } = emulated;
  emulator.seed({ endpoints: [ENDPOINT] });
  await clock.advance(1000);
  emulator.faults.add({ match: { operation: "workerLogs" }, effect: { reset: "midway" }, times: 1 });
  const lines: string[] = [];
  const reading = (async () => {
    for await (const { line } of client.endpoints.logs(ENDPOINT.id, { follow: true, source: "container" })) {
      lines.push(line);
      if (line === "two") return;
    }
  })();
  await run(client.endpoint(ENDPOINT.id).run({ input: { say: "one" } }));
  await clock.advance(3000);
  await run(client.endpoint(ENDPOINT.id).run({ input: { say: "two" } }));
  await run(reading);
  expect(lines).toEqual(["--- Starting Serverless Worker ---", "one", "two"]);
  const opened = emulator.journal.requests().filter(({ operation }) => operation === "workerLogs");
  expect(opened.length).toBeGreaterThanOrEqual(2);
});

test("a timeout and an abort end a followed log", async () => {
  await using emulated = await start();
  const { client, emulator, run, failure, clock } = emulated;
  emulator.seed({ endpoints: [ENDPOINT] });
  await clock.advance(1000);
  const timed = await run(collect(client.endpoints.logs(ENDPOINT.id, { follow: true, timeoutMs: 20_000 })));
  expect(timed.length).toBe(3);
  const stop = new AbortController();
  const reading = collect(client.endpoints.logs(ENDPOINT.id, { follow: true, signal: stop.signal }));
  clock.schedule(5000, () => stop.abort(new Error("enough")));
  expect((await failure(reading)).message).toBe("enough");
});

test("GraphQL does not support logs, and the error says how to read them", async () => {
  await using emulated = await start("graphql");
  const { client, emulator, calls } = emulated;
  emulator.seed({ endpoints: [ENDPOINT] });
  expect(() => client.endpoints.logs(ENDPOINT.id)).toThrow("GraphQL does not show workers' logs");
  expect(calls()).toEqual([]);
});

test("an unknown endpoint or worker causes an error", async () => {
  await using emulated = await start();
  const { client, emulator, failure } = emulated;
  emulator.seed({ endpoints: [ENDPOINT] });
  expect((await failure(collect(client.endpoints.logs("nope12345678")))).name).toBe("NotFoundError");
  const logs = client.endpoints.logs(ENDPOINT.id, { workerId: "none" });
  expect((await failure(collect(logs))).name).toBe("NotFoundError");
});

test.each([
  ["HF_TOKEN=abcdef", "HF_TOKEN=[redacted]"],
  ['{"db_password": "hunter22"}', '{"db_password": "[redacted]"}'],
  ["the api key is abc123", "the api key is [redacted]"],
  ["postgres://user:pa55word@host/db", "postgres://user:[redacted]@host/db"],
  ["using hf_aaaaaaaaaaaaaaaaaaaa now", "using [redacted] now"],
  ["Authorization: Bearer abcdefgh", "Authorization: Bearer [redacted]"],
  ["loaded 12 tokens in 3 s", "loaded 12 tokens in 3 s"],
])("%s is shown as %s", (line, shown) => {
  expect(redactLine(line)).toBe(shown);
});
