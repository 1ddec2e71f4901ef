import { spawn } from "node:child_process";
import { once } from "node:events";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { createWebhookReceiver, type WebhookReceiverOptions } from "../../../sdk/webhooks/webhookReceiver";
import { listen, post } from "../../support/webhookServer";

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

/** Returns the memory that is in use after a collection, with that of buffers, in bytes. */
function heldMemory(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

const MEGABYTE = 1_000_000;

/**
 * Sends 10 deliveries at once from a separate process, each of 12 MB with its id at the end. Fails
 * if one is refused.
 */
const SENDER = `
const { request } = require("node:http");
const part = Buffer.alloc(${MEGABYTE}, "x");
for (let n = 0; n < 10; n++) {
  const sending = request(process.argv[1], { method: "POST", agent: false }, (response) => {
    response.resume();
    if (response.statusCode !== 200) process.exitCode = 1;
  });
  sending.write('{"input": {"id": "not this one", "text": "');
  let left = 12;
  const write = () => {
    while (left-- > 0) if (!sending.write(part)) return void sending.once("drain", write);
    sending.end('"}, "list": [{"id": 1}], "id": "job-' + n + '"}');
  };
  write();
}
`;

describe("a webhook receiver under attack", () => {
  /** A receiver whose `/status` responds when the test says so. */
  function startHeld(own: Partial<WebhookReceiverOptions> = {}) {
    const asked: string[] = [];
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const receiver = createWebhookReceiver({
      endpoint: {
        endpointId: "a",
        status: async (id) => {
          asked.push(id);
          await released;
          return { id, status: "COMPLETED" };
        },
      },
      onJob() {},
      onError() {},
      ...own,
    });
    return { receiver, asked, release };
  }

  test("a webhook receiver under attack keeps no bodies: 10 connections with 12 MB each need less than 40 MB of memory, and all deliveries are read", async () => {
    const { receiver, release, asked } = startHeld();
    release();
    await using server = await listen(receiver.node);
    const before = heldMemory();
    let most = 0;
    const watching = setInterval(() => {
      most = Math.max(most, heldMemory() - before);
    }, 200);
    const [sent] = await once(spawn(process.execPath, ["-e", SENDER, server.url], { stdio: "inherit" }), "exit");
    clearInterval(watching);
    expect(sent).toBe(0);
    expect(asked.sort()).toEqual(Array.from({ length: 10 }, (_, n) => `job-${n}`).sort());
    // Kept bodies are 120 MB.
    expect(most).toBeLessThan(40 * MEGABYTE);
  });

  test("a webhook receiver under attack refuses an endless body and keeps working", async () => {
    const { receiver, release, asked } = startHeld();
    release();
    await using server = await listen(receiver.node);
    const part = Buffer.alloc(8 * MEGABYTE, "x");
    async function* endless() {
      for (;;) yield part;
    }
    const init = { method: "POST", body: endless(), duplex: "half" } as unknown as RequestInit;
    const request = new Request(server.url, init);
    expect((await receiver.fetch(request)).status).toBe(413);
    expect(asked).toEqual([]);
    expect((await post(server.url, { id: "job-1" })).status).toBe(200);
  });

  test("a webhook receiver under attack disconnects the slowest senders when a delivery arrives and the receiver is full", async () => {
    const { receiver, release, asked } = startHeld();
    release();
    const controllers: ReadableStreamDefaultController<Uint8Array>[] = [];
    const slow = Array.from({ length: 520 }, () => {
      const body = new ReadableStream<Uint8Array>({ start: (controller) => void controllers.push(controller) });
      return receiver.fetch(new Request("http://a/hook", { method: "POST", body, duplex: "half" } as RequestInit));
    });
    expect((await Promise.all(slow.slice(500))).map(({ status }) => status)).toEqual(Array(20).fill(503));
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    const deliver = (id: string) =>
      receiver.fetch(new Request("http://a/hook", { method: "POST", body: JSON.stringify({ id }) }));
    const delivered = await Promise.all([deliver("job-1"), deliver("job-2")]);
    expect(delivered.map(({ status }) => status)).toEqual([200, 200]);
    expect((await Promise.all(slow.slice(0, 2))).map(({ status }) => status)).toEqual([408, 408]);
    expect(asked).toEqual(["job-1", "job-2"]);
    for (const controller of controllers.slice(2, 500)) controller.close();
    await Promise.all(slow);
  });

  test("uses at most a quarter of the limit of /status at once, and refuses deliveries beyond that", async () => {
    const { receiver, release, asked } = startHeld();
    const deliver = (n: number) =>
      receiver.fetch(new Request("http://a/hook", { method: "POST", body: JSON.stringify({ id: `job-${n}` }) }));
    const responses = Array.from({ length: 700 }, (_, n) => deliver(n));
    const refused = await Promise.all(responses.slice(500));
    expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([503]));
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(asked).toHaveLength(100);
    release();
    const confirmed = await Promise.all(responses.slice(0, 500));
    expect(new Set(confirmed.map(({ status }) => status))).toEqual(new Set([200]));
  });

  test("a webhook receiver under attack confirms a job only once when it is delivered many times simultaneously", async () => {
    const { receiver, release, asked } = startHeld();
    const delivery = () => new Request("http://a/hook", { method: "POST", body: '{"id":"job-1"}' });
    const answers = Array.from({ length: 20 }, () => receiver.fetch(delivery()));
    await new Promise((resolve) => setTimeout(resolve, 50));
    release();
    expect(new Set((await Promise.all(answers)).map(({ status }) => status))).toEqual(new Set([200]));
    expect(asked).toEqual(["job-1"]);
  });
});
