import { manualClock } from "../../../emulator/time/virtualClock";
import type { Endpoint } from "../../../sdk/endpoints/record";
import type { Listed } from "../../../sdk/records/listed";
import { SharedList } from "../../../sdk/records/sharedList";

/**
 * A list whose requests wait for the test: each returns one endpoint, named after the number of the
 * request.
 */
function handAnsweredList() {
  const clock = manualClock(1_000_000);
  const sent: { signal: AbortSignal | undefined; respond: () => void; fail: (error: Error) => void }[] = [];
  const list = new SharedList<Listed<Endpoint>>(clock, ({ signal }, onSend) => {
    onSend();
    const number = sent.length + 1;
    return new Promise<Listed<Endpoint>>((resolve, reject) => {
      const respond = () => resolve({ records: [{ id: `list-${number}` } as Endpoint], unreadable: [] });
      sent.push({ signal, respond, fail: reject });
      signal?.addEventListener("abort", () => reject(signal.reason));
    });
  });
  async function read(maxAgeMs?: number, signal?: AbortSignal) {
    const sentAfter = maxAgeMs === undefined ? undefined : clock.monotonic() - maxAgeMs;
    const { records } = await list.read({ sentAfter }, { signal });
    return records[0]?.id;
  }
  return { clock, sent, list, read };
}

/** Lets everything happen that does not wait for a response. */
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe("readers of the shared list", () => {
  test("readers of the shared list share one request if they arrive at the same time", async () => {
    const { read, sent } = handAnsweredList();
    const reads = Promise.all([read(), read(), read(60_000)]);
    await turn();
    expect(sent).toHaveLength(1);
    sent[0]?.respond();
    expect(await reads).toEqual(["list-1", "list-1", "list-1"]);
  });

  test("readers of the shared list share the next list, requested after the first has arrived, if they arrive during a request", async () => {
    const { read, sent } = handAnsweredList();
    const first = read();
    await turn();
    const later = Promise.all([read(), read()]);
    await turn();
    expect(sent).toHaveLength(1);
    sent[0]?.respond();
    expect(await first).toBe("list-1");
    await turn();
    expect(sent).toHaveLength(2);
    sent[1]?.respond();
    expect(await later).toEqual(["list-2", "list-2"]);
  });

  test("readers of the shared list send only two requests in total if a thousand of them accept no older list", async () => {
    const { read, sent } = handAnsweredList();
    const early = Array.from({ length: 500 }, () => read());
    await turn();
    const late = Array.from({ length: 500 }, () => read());
    sent[0]?.respond();
    await turn();
    sent[1]?.respond();
    expect(new Set(await Promise.all(early))).toEqual(new Set(["list-1"]));
    expect(new Set(await Promise.all(late))).toEqual(new Set(["list-2"]));
  });
});

describe("the age of a list", () => {
  test("the age of a list is counted from when its request was sent, and limited by what each reader accepts", async () => {
    const { read, sent, clock } = handAnsweredList();
    const first = read();
    await clock.advance(4_000);
    sent[0]?.respond();
    await first;
    await clock.advance(1_000);
    expect(await read(5_000)).toBe("list-1");
    await clock.advance(1);
    const tooOld = read(5_000);
    const olderAllowed = read(60_000);
    expect(await olderAllowed).toBe("list-1");
    await turn();
    expect(sent).toHaveLength(2);
    sent[1]?.respond();
    expect(await tooOld).toBe("list-2");
  });

  test("the age of a list allows a reader to join a list request that is in flight", async () => {
    const { read, sent } = handAnsweredList();
    const first = read();
    await turn();
    const joined = read(1_000);
    sent[0]?.respond();
    expect(await Promise.all([first, joined])).toEqual(["list-1", "list-1"]);
    expect(sent).toHaveLength(1);
  });
});

describe("after a write", () => {
  test("no reader gets a list that arrived before the write, even if it allows an older list", async () => {
    const { read, sent, list } = handAnsweredList();
    const before = read();
    await turn();
    sent[0]?.respond();
    await before;
    list.noteWrite();
    const after = read(60_000);
    await turn();
    sent[1]?.respond();
    expect(await after).toBe("list-2");
  });

  test("no reader gets a list that was sent before the write and arrives after it", async () => {
    const { read, sent, list } = handAnsweredList();
    const before = read();
    await turn();
    list.noteWrite();
    const after = read(60_000);
    sent[0]?.respond();
    expect(await before).toBe("list-1");
    // The list that arrived late is not used for new readers.
    const muchLater = read(60_000);
    await turn();
    sent[1]?.respond();
    expect(await Promise.all([after, muchLater])).toEqual(["list-2", "list-2"]);
  });

  test("a list whose request has not been sent yet is new enough", async () => {
    const { read, sent, list } = handAnsweredList();
    const first = read();
    await turn();
    const waiting = read();
    list.noteWrite();
    const after = read(60_000);
    sent[0]?.respond();
    await first;
    await turn();
    sent[1]?.respond();
    expect(await Promise.all([waiting, after])).toEqual(["list-2", "list-2"]);
    expect(sent).toHaveLength(2);
  });
});

describe("a list that fails", () => {
  test("a list that fails fails for the readers that waited for it, but not for later readers", async () => {
    const { read, sent } = handAnsweredList();
    const failing = [read(), read(60_000)];
    await turn();
    sent[0]?.fail(new Error("broken"));
    for (const each of failing) await expect(each).rejects.toThrow("broken");
    const after = read(60_000);
    await turn();
    sent[1]?.respond();
    expect(await after).toBe("list-2");
  });

  test("a list that fails does not prevent the next list from being sent", async () => {
    const { read, sent } = handAnsweredList();
    const failing = read();
    await turn();
    const next = read();
    sent[0]?.fail(new Error("broken"));
    await expect(failing).rejects.toThrow("broken");
    await turn();
    sent[1]?.respond();
    expect(await next).toBe("list-2");
  });
});

describe("a reader's abort", () => {
  test("a reader's abort ends only that reader's wait, and does so at once", async () => {
    const { read, sent } = handAnsweredList();
    const abort = new AbortController();
    const leaving = read(0, abort.signal);
    const staying = read(0, new AbortController().signal);
    await turn();
    abort.abort(new Error("enough"));
    await expect(leaving).rejects.toThrow("enough");
    expect(sent[0]?.signal?.aborted).toBe(false);
    sent[0]?.respond();
    expect(await staying).toBe("list-1");
  });

  test("a reader's abort ends the request if no other reader is waiting, and the next reader sends a new request", async () => {
    const { read, sent } = handAnsweredList();
    const abort = new AbortController();
    const leaving = [read(0, abort.signal), read(60_000, abort.signal)];
    await turn();
    abort.abort(new Error("enough"));
    for (const each of leaving) await expect(each).rejects.toThrow("enough");
    expect(sent[0]?.signal?.aborted).toBe(true);
    const next = read(60_000);
    await turn();
    sent[1]?.respond();
    expect(await next).toBe("list-2");
  });

  test("a reader's abort prevents a list that was not sent yet from being requested, but not the lists of later readers", async () => {
    const { read, sent } = handAnsweredList();
    const first = read();
    await turn();
    const abort = new AbortController();
    const leaving = read(0, abort.signal);
    abort.abort(new Error("enough"));
    await expect(leaving).rejects.toThrow("enough");
    const later = read();
    sent[0]?.respond();
    await first;
    await turn();
    expect(sent).toHaveLength(2);
    sent[1]?.respond();
    expect(await later).toBe("list-2");
  });

  test("a request that a rate limit delays is shared by new readers until it is sent", async () => {
    const clock = manualClock(1_000_000);
    const held: { readonly send: () => void; readonly also: ReadonlySet<string> }[] = [];
    const list = new SharedList<{ readonly number: number }>(clock, async (_, onSend, also) => {
      const number = held.length + 1;
      await new Promise<void>((resolve) => held.push({ send: resolve, also }));
      onSend();
      return { number };
    });
    const readers = [list.read({ also: "one" })];
    await turn();
    await clock.advance(40_000);
    readers.push(list.read({ also: "other" }), list.read({ sentAfter: clock.monotonic() - 2_000 }));
    await turn();
    expect(held).toHaveLength(1);
    expect([...(held[0]?.also ?? [])]).toEqual(["one", "other"]);
    held[0]?.send();
    // It is as old as its request, not as the wait for it.
    for (const { number, sentAt } of await Promise.all(readers))
      expect({ number, sentAt }).toEqual({ number: 1, sentAt: clock.monotonic() });
    const later = list.read();
    await turn();
    held[1]?.send();
    expect((await later).number).toBe(2);
  });

  test("an abort before the call sends nothing", async () => {
    const { read, sent } = handAnsweredList();
    await expect(read(0, AbortSignal.abort(new Error("enough")))).rejects.toThrow("enough");
    await turn();
    expect(sent).toHaveLength(0);
  });

  test("a reader's abort leaves no listener on its signal", async () => {
    const { read, sent } = handAnsweredList();
    const { signal } = new AbortController();
    const removed = jest.spyOn(signal, "removeEventListener");
    const reading = read(0, signal);
    await turn();
    sent[0]?.respond();
    await reading;
    await turn();
    expect(removed).toHaveBeenCalledWith("abort", expect.any(Function));
  });
});
