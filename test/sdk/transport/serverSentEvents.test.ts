import fc from "fast-check";
import { createEventParser } from "../../../sdk/transport/serverSentEvents";

/** Returns the data of all events of a string whose bytes arrive in pieces that end at `cuts`. */
function dataOf(text: string, cuts: readonly number[] = []): string[] {
  const bytes = Buffer.from(text);
  const ends = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  const parser = createEventParser();
  let from = 0;
  const found: string[] = [];
  for (const end of [...ends, bytes.length]) {
    found.push(...parser.push(bytes.subarray(from, end)).map(({ data }) => data));
    from = end;
  }
  return [...found, ...parser.end().map(({ data }) => data)];
}

describe("server-sent events", () => {
  test.each<[string, string, string[]]>([
    ["one event", "data: a\n\n", ["a"]],
    ["without the space", "data:a\n\n", ["a"]],
    ["with one of two spaces", "data:  a\n\n", [" a"]],
    ["several lines of data", "data: a\ndata: b\ndata\n\n", ["a\nb\n"]],
    ["CRLF", "data: a\r\n\r\ndata: b\r\n\r\n", ["a", "b"]],
    ["CR", "data: a\r\rdata: b\r\r", ["a", "b"]],
    ["comments and other fields", ": ping\n\nevent: x\nid: 1\nretry: 5\ndata: a\n\n: ping\n\n", ["a"]],
    ["an event without data", "event: x\n\ndata: a\n\n", ["a"]],
    ["a byte order mark", "\uFEFFdata: a\n\n", ["a"]],
    ["an end without an empty line", "data: a\n\ndata: b", ["a", "b"]],
    ["unknown fields", "database: a\ndata: b\n\n", ["b"]],
    ["nothing", "", []],
  ])("server-sent events are read: %s", (_, text, expected) => expect(dataOf(text)).toEqual(expected));

  test("server-sent events are parsed identically wherever their bytes are split, with any kind of line break", () => {
    const line = fc.string({ unit: fc.constantFrom("a", "ü", "語", "😀", " ", ":", "{", '"') });
    const event = fc.record({ lines: fc.array(line, { minLength: 1, maxLength: 3 }), comment: fc.boolean() });
    fc.assert(
      fc.property(
        fc.array(event, { maxLength: 5 }),
        fc.constantFrom("\n", "\r\n", "\r"),
        fc.array(fc.nat(), { maxLength: 12 }),
        (events, end, cuts) => {
          const written = events.map(({ lines, comment }) =>
            [...(comment ? [": ping"] : []), ...lines.map((text) => `data: ${text}`), "", ""].join(end),
          );
          expect(dataOf(written.join(""), cuts)).toEqual(events.map(({ lines }) => lines.join("\n")));
        },
      ),
      { numRuns: 500 },
    );
  });

  test("server-sent events are told apart from other bodies", () => {
    const isEventStream = (text: string) => {
      const parser = createEventParser();
      parser.push(Buffer.from(text));
      parser.end();
      return parser.isEventStream;
    };
    expect([": ping\n\n", "data: a\n\n", "event: a\n\n"].map(isEventStream)).toEqual([true, true, true]);
    expect(['{"data": 1}', "<html>", '{\n "data": 1\n}'].map(isEventStream)).toEqual([false, false, false]);
  });
});
