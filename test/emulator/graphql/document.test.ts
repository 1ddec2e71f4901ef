import { readDocument } from "../../../emulator/graphql/document";

/** Returns the parsed document of a request. It is the same object if it was kept. */
function parsed(query: string) {
  const document = readDocument({
    method: "POST",
    path: "/graphql",
    query: new URLSearchParams(),
    headers: { "content-type": "application/json" },
    body: Buffer.from(JSON.stringify({ query })),
    signal: () => new AbortController().signal,
  });
  if ("query" in document) return document.query;
  throw document;
}

const long = (number: number, length: number) => `{ a(b: "${number}${"x".repeat(length)}") }`;

test("a repeated document is parsed once, unless other documents or its own length would take much memory", () => {
  expect(parsed("{ a }")).toBe(parsed("{ a }"));
  expect(parsed(long(0, 1_000_000))).not.toBe(parsed(long(0, 1_000_000)));
  const first = parsed("{ a }");
  for (let number = 0; number < 100; number++) parsed(long(number, 50_000));
  expect(parsed("{ a }")).not.toBe(first);
});
