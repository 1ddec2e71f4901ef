import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { clientOf, startRawServer } from "../../support/rawServer";

const PATH = "v1/chat/completions";

/** A server whose responses continue until their connection is closed. */
async function startEndless(begin: (incoming: IncomingMessage, outgoing: ServerResponse) => void) {
  const open = new Set<ServerResponse>();
  const listener: RequestListener = (incoming, outgoing) => {
    incoming.resume();
    open.add(outgoing);
    outgoing.on("close", () => open.delete(outgoing));
    begin(incoming, outgoing);
  };
  return { ...(await startRawServer(listener)), open };
}

/** Waits until the condition holds, for at most 5 seconds. */
async function until(isSo: () => boolean): Promise<void> {
  for (let waited = 0; !isSo() && waited < 5_000; waited += 10) await pause(10);
  expect(isSo()).toBe(true);
}

describe("a stream", () => {
  test("a stream is read after an interim response", async () => {
    await using server = await startRawServer((_incoming, outgoing) => {
      outgoing.writeEarlyHints({ link: "</a>; rel=preload" });
      outgoing.writeProcessing();
      setTimeout(() => outgoing.end("data: 1\n\ndata: [DONE]\n\n"), 20);
    });
    const client = clientOf(server);
    const events = [];
    for await (const event of await client.endpoint("ep").openaiStream(PATH, { body: {}, timeoutMs: 2_000 })) {
      events.push(event);
    }
    expect(events).toEqual([1]);
    await client.close();
  });

  test("a stream ends at the server if it is aborted or abandoned before its first read", async () => {
    await using server = await startEndless((_incoming, outgoing) => outgoing.write("data: 1\n\n"));
    const client = clientOf(server);
    const controller = new AbortController();
    const aborted = await client.endpoint("ep").openaiStream(PATH, { body: {}, signal: controller.signal });
    controller.abort(new Error("enough"));
    await until(() => server.open.size === 0);
    await expect(aborted[Symbol.asyncIterator]().next()).rejects.toThrow("enough");

    const given = (await client.endpoint("ep").openaiStream(PATH, { body: {} }))[Symbol.asyncIterator]();
    await given.return?.();
    await until(() => server.open.size === 0);
    expect(await given.next()).toMatchObject({ done: true });
    await client.close();
  });

  test("a stream that begins after the client was closed is ended, and close does not wait for it", async () => {
    let begin = () => {};
    await using server = await startEndless((_incoming, outgoing) => {
      begin = () => outgoing.write("data: 1\n\n");
    });
    const client = clientOf(server);
    const stream = client.endpoint("ep").openaiStream(PATH, { body: {} });
    await until(() => server.open.size === 1);
    const closed = client.close();
    begin();
    await expect((await stream)[Symbol.asyncIterator]().next()).rejects.toThrow(
      expect.objectContaining({ code: "CLIENT_CLOSED" }),
    );
    expect(await Promise.race([closed.then(() => "closed"), pause(5_000, "hangs")])).toBe("closed");
  });

  test("a stream counts as pending until it ends", async () => {
    await using server = await startEndless((_incoming, outgoing) => outgoing.write("data: 1\n\n"));
    const client = clientOf(server);
    const streams = await Promise.all(
      Array.from({ length: 400 }, () => client.endpoint("ep").openaiStream(PATH, { body: {} })),
    );
    let isNextOpen = false;
    const next = client.endpoint("ep").openaiStream(PATH, { body: {} });
    next.then(() => {
      isNextOpen = true;
    });
    await pause(300);
    expect([isNextOpen, server.open.size]).toEqual([false, 400]);
    await streams[0]?.[Symbol.asyncIterator]().return?.();
    await until(() => isNextOpen);
    await client.close();
  });
});
