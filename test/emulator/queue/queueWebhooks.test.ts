import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { HandlerContext, HandlerJob } from "../../../emulator";
import { startQueue, stopAll } from "../../support/queueClient";

interface Delivery {
  readonly method: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: Record<string, unknown>;
}

const second = 1000;
let receiver: Server;
let url: string;
let deliveries: Delivery[];
/** The statuses that the receiver returns, one after the other; then 200. */
let answers: number[];

beforeEach(async () => {
  deliveries = [];
  answers = [];
  receiver = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    deliveries.push({ method: request.method, headers: request.headers, body: JSON.parse(text) });
    response.writeHead(answers.shift() ?? 200, { location: "/elsewhere" }).end();
  }).listen(0, "127.0.0.1");
  await once(receiver, "listening");
  url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
});
afterEach(async () => {
  await stopAll();
  receiver.closeAllConnections();
  receiver.close();
});

const worker = async ({ input }: HandlerJob, context: HandlerContext) => {
  await context.sleep(second);
  if (input.fail) throw new Error("no");
  if (input.timeOut) context.timeOut();
  return { ok: true };
};
const handlers = { worker };

test("[queue.webhook] [queue.webhook-body] the whole job is posted once when it has completed", async () => {
  const queue = await startQueue({}, { handlers });
  const id = await queue.run({ a: 1 }, { webhook: url });
  await queue.clock.advance(second - 1);
  expect(deliveries).toEqual([]);
  await queue.clock.advance(60 * second);
  expect(deliveries).toHaveLength(1);
  const [{ method, headers, body }] = deliveries as [Delivery];
  expect([method, headers["content-type"], headers.authorization]).toEqual(["POST", "application/json", undefined]);
  expect(body).toEqual({
    id,
    status: "COMPLETED",
    delayTime: 0,
    executionTime: second,
    input: { a: 1 },
    output: { ok: true },
    webhook: url,
  });
});

test("[queue.webhook-states] FAILED and TIMED_OUT jobs are also posted, but CANCELLED jobs are not", async () => {
  const queue = await startQueue({}, { handlers });
  await queue.run({ fail: true }, { webhook: url });
  await queue.run({ timeOut: true }, { webhook: url });
  const cancelled = await queue.run({ n: 1 }, { webhook: url });
  await queue.clock.advance(2 * second);
  await queue.post(`cancel/${cancelled}`);
  await queue.clock.advance(60 * second);
  expect(deliveries.map(({ body }) => body.status)).toEqual(["FAILED", "TIMED_OUT"]);
});

describe("[queue.webhook-tries] tries", () => {
  test.each([
    500, 404, 204, 201, 302,
  ])("a response with %d counts as a failure and leads to two more tries, 10 s apart", async (status) => {
    answers = [status, status, status];
    const queue = await startQueue({}, { handlers });
    const id = await queue.run({ n: 1 }, { webhook: url });
    await queue.clock.advance(second);
    await queue.clock.advance(10 * second - 1);
    expect(deliveries).toHaveLength(1);
    await queue.clock.advance(1);
    expect(deliveries).toHaveLength(2);
    await queue.clock.advance(10 * second - 1);
    expect(deliveries).toHaveLength(2);
    await queue.clock.advance(600 * second);
    expect(deliveries).toHaveLength(3);
    expect(new Set(deliveries.map(({ body }) => JSON.stringify(body)))).toHaveProperty("size", 1);
    expect(await queue.job(id)).toMatchObject({ status: "COMPLETED", output: { ok: true } });
  });

  test("no further tries follow the first 200 response", async () => {
    answers = [500, 200];
    const queue = await startQueue({}, { handlers });
    await queue.run({ n: 1 }, { webhook: url });
    await queue.clock.advance(600 * second);
    expect(deliveries).toHaveLength(2);
  });

  test("[queue.webhook-failed] an unreachable receiver does not change the job", async () => {
    receiver.close();
    await once(receiver, "close");
    const queue = await startQueue({}, { handlers });
    const id = await queue.run({ n: 1 }, { webhook: url });
    await queue.clock.advance(60 * second);
    expect(await queue.job(id)).toMatchObject({ status: "COMPLETED", output: { ok: true } });
  });

  test("[queue.webhook-tries-observed] the observed profile accepts any 2xx status", async () => {
    answers = [204];
    const queue = await startQueue({}, { profile: "observed", handlers });
    await queue.run({ n: 1 }, { webhook: url });
    await queue.clock.advance(600 * second);
    expect(deliveries).toHaveLength(1);
  });

  test("[queue.webhook-tries-observed] the observed profile pauses for 5 s and 15 s", async () => {
    answers = [500, 500];
    const queue = await startQueue({}, { profile: "observed", handlers });
    await queue.run({ n: 1 }, { webhook: url });
    const counts: number[] = [];
    for (const ms of [second, 5 * second - 1, 1, 15 * second - 1, 1]) {
      await queue.clock.advance(ms);
      counts.push(deliveries.length);
    }
    expect(counts).toEqual([1, 1, 2, 2, 3]);
  });
});

test("a fault rule can drop a try, and the next try follows after the usual pause", async () => {
  const queue = await startQueue({}, { handlers });
  queue.emulator.faults.add({ effect: { dropWebhook: true }, times: 1 });
  await queue.run({ n: 1 }, { webhook: url });
  await queue.clock.advance(11 * second - 1);
  expect(deliveries).toEqual([]);
  await queue.clock.advance(1);
  expect(deliveries).toHaveLength(1);
});

test("[queue.webhook-loopback] a job with an external webhook runs, but nothing is sent outside the machine", async () => {
  const queue = await startQueue({}, { handlers });
  // A name that happens to resolve to this machine does not count as loopback.
  const elsewhere = url.replace("127.0.0.1", "0.0.0.0");
  const id = await queue.run({}, { webhook: elsewhere });
  await queue.clock.advance(60 * second);
  expect((await queue.job(id)).status).toBe("COMPLETED");
  expect(deliveries).toEqual([]);
});

test("[queue.webhook-loopback] an external webhook is delivered if an option allows it", async () => {
  const queue = await startQueue({}, { handlers, remoteWebhooks: true });
  await queue.run({}, { webhook: url.replace("127.0.0.1", "0.0.0.0") });
  await queue.clock.advance(60 * second);
  expect(deliveries).toHaveLength(1);
});

test("localhost counts as loopback", async () => {
  const queue = await startQueue({}, { handlers });
  await queue.run({}, { webhook: url.replace("127.0.0.1", "localhost") });
  await queue.clock.advance(60 * second);
  expect(deliveries).toHaveLength(1);
});
