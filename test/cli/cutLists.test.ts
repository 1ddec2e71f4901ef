import { adopt } from "../../cli/adopt/adopt";
import { askWithKey } from "../../cli/doctor/service";
import { type Emulator, startEmulator } from "../../emulator";
import { findEndpoint } from "../../provider/functions/findEndpoint";
import { createClient } from "../../sdk/client/client";

const many = (count: number) =>
  Array.from({ length: count }, (_, each) => ({
    id: `e${each}`,
    name: `e${each}`,
    gpuIds: "AMPERE_24",
    templateId: "t",
  }));

/**
 * Starts a service that lists the 400 oldest of its endpoints, with a key that REST v2 does not
 * accept.
 */
async function start(count: number): Promise<Emulator> {
  const emulator = await startEmulator({ profile: "observed" });
  emulator.seed({ endpoints: many(count) });
  emulator.faults.add({ match: { operation: "listEndpoints" }, effect: { status: 403 } });
  return emulator;
}

test.each([
  [349, "ok"],
  [350, "warning"],
  [401, "warning"],
])("doctor warns once an account has 350 endpoints that the list is or soon will be truncated: %d is %s", async (count, status) => {
  await using emulator = await start(count);
  const { url: graphqlUrl, apiKey } = emulator;
  const configuration = { settings: { graphqlUrl, apiKey }, sourceOf: () => "set" } as never;
  const { key: finding } = await askWithKey(configuration, [
    { name: "graphqlUrl", address: graphqlUrl, response: {} as never },
  ]);
  expect(finding.status).toBe(status);
  if (status === "warning")
    expect(finding.found).toContain(`the account has ${Math.min(count, 400)} endpoints or more`);
});

test("adopt warns that the list of endpoints may be truncated", async () => {
  await using emulator = await start(401);
  const before = process.env;
  process.env = { ...before, ...emulator.env };
  const [program, told]: string[][] = [[], []];
  const keepIn = (texts: string[] | undefined) => (text: unknown) => texts?.push(String(text)) !== 0;
  const outputs = [
    jest.spyOn(process.stdout, "write").mockImplementation(keepIn(program)),
    jest.spyOn(process.stderr, "write").mockImplementation(keepIn(told)),
  ];
  try {
    expect(await adopt({})).toBe(0);
  } finally {
    process.env = before;
    for (const each of outputs) each.mockRestore();
  }
  expect(program?.join("").match(/adoptId:/g)).toHaveLength(400);
  expect(told?.join("")).toMatch(/adopt: warning: the list of endpoints has 400 records or more/);
});

test("a data source that cannot find an endpoint by name reports that the list is truncated", async () => {
  await using emulator = await start(401);
  const { url: graphqlUrl, apiKey } = emulator;
  await using client = createClient({ graphqlUrl, apiKey });
  const context = { client, queueUrlOf: (id: string) => id } as never;
  await expect(findEndpoint(context, { name: "e400" })).rejects.toThrow(/of the 400 oldest records.* is named "e400"/);
  expect(await findEndpoint(context, { id: "e400" })).toMatchObject({ name: "e400" });
});
