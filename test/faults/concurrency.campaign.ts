import { type Emulator, startEmulator } from "../../emulator";
import { createStack, type PulumiStack } from "../pulumi/harness";

const ARGS = { gpuIds: "AMPERE_24", templateId: "template", workersMax: 1 };

const program = (resources: Readonly<Record<string, object>>) => `
const pulumi = require("@pulumi/pulumi");
const { ServerlessEndpoint } = require("pulumi-serverless-gpu");
for (const [name, args] of Object.entries(${JSON.stringify(resources)})) {
  exports[name] = new ServerlessEndpoint(name, args).endpointId;
}
`;

const UP = ["up", "--yes", "--skip-preview"];

const namesOf = (emulator: Emulator) =>
  emulator.endpoints
    .list()
    .map(({ name }) => name.replace(/-[0-9a-f]{7}$/, ""))
    .sort();

const idsIn = async (stack: PulumiStack) => Object.values(await stack.outputs());

test("two stacks of one project on one account, applied at once, keep out of each other's way", async () => {
  await using emulator = await startEmulator({ profile: "contract", drainMs: 100 });
  const stack = await createStack({ program: program({ one: ARGS, two: ARGS }), env: emulator.env });
  await stack.succeed(["stack", "init", "prod"]);
  const both = ["dev", "prod"];
  await Promise.all(both.map((name) => stack.up("--stack", name)));
  expect(namesOf(emulator)).toEqual(["one", "one", "two", "two"]);
  expect(new Set(emulator.endpoints.list().map(({ name }) => name)).size).toBe(4);

  await stack.writeProgram(program({ one: { ...ARGS, locations: "CZ" }, two: ARGS }));
  await Promise.all([stack.up("--stack", "prod"), stack.destroy("--stack", "dev")]);
  expect(
    emulator.endpoints
      .list()
      .map(({ locations }) => locations)
      .sort(),
  ).toEqual(["", "CZ"]);
  await stack.preview("--stack", "prod", "--refresh", "--expect-no-changes");
  await stack.destroy("--stack", "prod");
  expect(emulator.endpoints.list()).toEqual([]);
});

test.each([
  ["the same project and stack on backends of their own", { one: ARGS }],
  ["an endpoint of the same explicit name", { one: { name: "one", ...ARGS } }],
])("two people with %s never share an endpoint", async (_who, resources) => {
  await using emulator = await startEmulator({ profile: "contract", drainMs: 100 });
  const [mine, theirs] = await Promise.all(
    [1, 2].map(() => createStack({ program: program(resources), env: emulator.env })),
  );
  if (!mine || !theirs) throw new Error("there are two");
  await mine.up();
  const refused = await theirs.run(UP);
  expect(refused.exitCode).not.toBe(0);
  expect(refused.output).toContain(`already exists: ${(await idsIn(mine))[0]}`);
  await theirs.destroy();
  expect(namesOf(emulator)).toEqual(["one"]);
  await mine.destroy();

  // At the same moment: one of them is refused, or each has an endpoint of its own.
  const results = await Promise.all([mine, theirs].map((stack) => stack.run(UP)));
  const succeeded = results.filter(({ exitCode }) => exitCode === 0).length;
  expect(emulator.endpoints.list()).toHaveLength(succeeded);
  expect(succeeded).toBeGreaterThan(0);
  for (const [index, stack] of [mine, theirs].entries()) {
    const made = emulator.endpoints.list().length;
    await stack.destroy();
    expect(emulator.endpoints.list()).toHaveLength(made - (results[index]?.exitCode === 0 ? 1 : 0));
  }
});

test("with another account's key or a wrong URL in the environment, nothing is changed and nothing forgotten", async () => {
  await using own = await startEmulator({ profile: "contract", apiKey: "own-account-key", drainMs: 100 });
  await using other = await startEmulator({ profile: "contract", apiKey: "other-account-key" });
  const stack = await createStack({ program: program({ one: ARGS }), env: own.env });
  await stack.up();
  const before = own.endpoints.list();
  await stack.writeProgram(program({ one: { ...ARGS, workersMax: 2 } }));

  const wrong = [
    other.env,
    { SERVERLESS_GPU_API_KEY: "other-account-key" },
    { SERVERLESS_GPU_GRAPHQL_URL: other.url },
    { SERVERLESS_GPU_GRAPHQL_URL: "http://127.0.0.1:9" },
  ];
  for (const env of wrong) {
    for (const command of [UP, ["refresh", "--yes", "--skip-preview"], ["destroy", "--yes", "--skip-preview"]]) {
      const { exitCode, output } = await stack.run(command, env);
      expect(exitCode).not.toBe(0);
      expect(output).toMatch(/401|last seen at|does not exist in this account|nothing is listening at/);
      expect(output).toMatch(/Check (that )?the|Use the previous key/);
    }
  }
  expect(own.endpoints.list()).toEqual(before);
  expect(other.journal.requests({ operation: "saveEndpoint" })).toEqual([]);
  await stack.up();
  expect(own.endpoints.list()).toMatchObject([{ id: before[0]?.id, workersMax: 2 }]);
  await stack.destroy();
  expect(own.endpoints.list()).toEqual([]);
});
