import fc from "fast-check";
import { type Emulator, startEmulator } from "../../../emulator";
import { type Client, createClient } from "../../../sdk/client/client";
import { normalizeName, normalizeSet } from "../../../sdk/endpoints/normalForms";
import type { EndpointInput } from "../../../sdk/endpoints/record";
import { InvalidInputError } from "../../../sdk/errors/errors";
import { addressesOf } from "../../support/scriptedServer";

const MINIMAL = { name: "llama", gpuIds: "AMPERE_24", templateId: "template" } as const;
const NEIGHBOUR = { name: "neighbour", gpuIds: "ADA_24", templateId: "theirs", idleTimeout: 55 };

const ODD_TEXTS = [
  " ",
  "a  b",
  '"',
  '"""',
  "\\",
  "\\u0022",
  "line\nbreak\r\n",
  "tab\t\u0000\u0007",
  "😀 日本語 e\u0301 \u202e\u2028\ufeff",
  "lone surrogate \ud800",
  '"}) { id } deleteEndpoint(id: "neighbour-id") #',
  "$input",
  "# a comment",
  "$".concat("{process.env}"),
  "../../etc/passwd",
  "<script>",
  "'; DROP TABLE endpoints; --",
  "__proto__",
  "constructor",
  "null",
  "-0",
  "llama -fb",
  " -fb",
  "x".repeat(100_000),
];

const ODD_VALUES = [
  Number.NaN,
  Number.POSITIVE_INFINITY,
  -1,
  0.5,
  2 ** 31,
  2 ** 53,
  Number.MAX_VALUE,
  "",
  "3",
  "x".repeat(100_000),
  true,
  [],
  [[]],
  {},
  { length: 1 },
  JSON.parse('{"__proto__": 1}'),
  Symbol("s"),
  10n,
  () => 1,
  new Date(0),
];

let emulator: Emulator;
let client: Client;

beforeAll(async () => {
  emulator = await startEmulator({ profile: "contract" });
  client = createClient({ apiKey: emulator.apiKey, ...addressesOf(emulator) });
});

afterAll(async () => {
  await client.close();
  await emulator.stop();
});

beforeEach(() => {
  emulator.reset();
  emulator.endpoints.create({ id: "neighbour-id", ...NEIGHBOUR });
});

/** The error of a call that was refused before anything was sent; undefined when it went well. */
async function refusal(call: Promise<unknown>): Promise<InvalidInputError | undefined> {
  const sent = () => emulator.journal.requests().filter(({ operation }) => operation !== "myself").length;
  const sentBefore = sent();
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error === undefined) return undefined;
  expect(error).toBeInstanceOf(InvalidInputError);
  expect(sent()).toBe(sentBefore);
  return error as InvalidInputError;
}

async function isFaithful(field: "name" | "templateId" | "networkVolumeId", text: string): Promise<void> {
  const { id } = await client.endpoints.create(MINIMAL);
  const before = emulator.endpoints.get(id);
  const error = await refusal(client.endpoints.update(id, { [field]: text }));
  const normal = { name: normalizeName, templateId: (id: string) => id.trim(), networkVolumeId: normalizeSet };
  const stored = normal[field](text);
  const changed = { ...before, version: expect.any(Number), [field]: stored === "" ? null : stored };
  const expected = error ? before : changed;
  expect(emulator.endpoints.get(id)).toEqual(expected);
  expect(emulator.endpoints.get("neighbour-id")).toMatchObject(NEIGHBOUR);
  emulator.endpoints.delete(id);
}

describe.each(["name", "templateId", "networkVolumeId"] as const)("%s", (field) => {
  test.each(ODD_TEXTS.map((text) => [text.slice(0, 50), text]))("%j is stored unchanged or refused", (_shown, text) =>
    isFaithful(field, text));

  test("any text is stored unchanged or refused", () =>
    fc.assert(
      fc.asyncProperty(fc.oneof(fc.string({ unit: "binary" }), fc.string({ unit: "grapheme" })), (text) =>
        isFaithful(field, text),
      ),
      { numRuns: 40 },
    ));
});

test.each(
  Object.keys({ ...MINIMAL, locations: 1, flashBootType: 1, scalerType: 1, scalerValue: 1, workersMin: 1 }),
)("an unusual value for %s is either refused with an error that names the field, or stored without changing other fields", async (field) => {
  for (const value of ODD_VALUES) {
    const { id } = await client.endpoints.create(MINIMAL);
    const before = emulator.endpoints.get(id);
    const error = await refusal(client.endpoints.update(id, { [field]: value } as Partial<EndpointInput>));
    if (error) expect(error.problems.map(({ property }) => property)).toContain(field);
    const after = emulator.endpoints.get(id);
    expect({ ...after, [field]: 0, version: 0 }).toEqual({ ...before, [field]: 0, version: 0 });
    expect(({} as Record<string, unknown>)[field]).toBeUndefined();
    emulator.endpoints.delete(id);
  }
});

test("an unusual id is refused, or matches no endpoint", async () => {
  for (const podId of ["", ".", "..", "a/b", "a?b", "a#b", "%2e%2e", ...ODD_TEXTS]) {
    await expect(client.pods.get(podId)).rejects.toThrow(/^.{0,100}(404|is not valid)/);
  }
});

test("any job input is returned by an echoing worker as the same JSON", async () => {
  const queue = client.endpoint("neighbour-id");
  await fc.assert(
    fc.asyncProperty(fc.dictionary(fc.string(), fc.jsonValue({ stringUnit: "binary" })), async (input) => {
      const { output } = await queue.runSync({ input });
      expect(JSON.stringify(output)).toBe(JSON.stringify(input));
    }),
    { numRuns: 30 },
  );
});
