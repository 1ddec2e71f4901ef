import { startEmulator } from "../../emulator";
import { createStack, endpointsIn } from "./harness";

const HEAD = `
const pulumi = require("@pulumi/pulumi");
const { NetworkVolume, ServerlessEndpoint, SmokeTest } = require("pulumi-serverless-gpu");
const args = { gpuIds: "AMPERE_24", templateId: "template" };
`;
const UP = ["up", "--yes", "--skip-preview"];

/** Returns the lines that match, sorted. Pulumi prints each of them several times. */
function printedOnce(output: string, line: RegExp): string[] {
  return [...new Set(output.match(line))].sort();
}

test("two explicit names are swapped through a third name, as the error advises", async () => {
  await using emulator = await startEmulator({ profile: "contract", drainMs: 100 });
  const program = (a: string, b: string) => `${HEAD}
new ServerlessEndpoint("a", { ...args, name: "${a}" });
new ServerlessEndpoint("b", { ...args, name: "${b}" });
`;
  const stack = await createStack({ program: program("x", "y"), env: emulator.env });
  await stack.up();
  const swapped = emulator.endpoints.list().map(({ id, name }) => ({ id, name: name === "x" ? "y" : "x" }));
  await stack.writeProgram(program("y", "x"));
  for (const _run of ["first", "again"]) {
    const { exitCode, output } = await stack.run(UP);
    expect(exitCode).not.toBe(0);
    expect(output).toMatch(
      /To swap two names, run pulumi up three times: rename one endpoint to a third name, then the other to the name/,
    );
  }
  for (const [a, b] of [
    ["third", "y"],
    ["third", "x"],
    ["y", "x"],
  ] as const) {
    await stack.writeProgram(program(a, b));
    await stack.up();
  }
  expect(emulator.endpoints.list()).toMatchObject(swapped);
  await stack.preview("--refresh", "--expect-no-changes");
});

test("an endpoint that is renamed, and moved into a component, keeps its record with its previous URN as an alias, as the error advises", async () => {
  await using emulator = await startEmulator({ profile: "contract", drainMs: 100 });
  const program = (logicalName: string, options: string) => `${HEAD}
const team = new pulumi.ComponentResource("test:Team", "team");
new ServerlessEndpoint("${logicalName}", { ...args, name: "mine" }, { ${options} });
`;
  const stack = await createStack({ program: program("one", ""), env: emulator.env });
  await stack.up();
  const [before] = emulator.endpoints.list();
  const moves: readonly (readonly [name: string, parent: string])[] = [
    ["two", ""],
    ["two", "parent: team, "],
    ["three", ""],
  ];
  for (const [name, parent] of moves) {
    await stack.writeProgram(program(name, parent));
    const { exitCode, output } = await stack.run(UP);
    expect(exitCode).not.toBe(0);
    expect(output).toContain(
      "add its previous URN to the resource option aliases. To see the URN, run: pulumi stack --show-urns",
    );
    const { stdout } = await stack.succeed(["stack", "--show-urns"]);
    const [urn] = /urn:\S+ServerlessEndpoint::\S+/.exec(stdout) ?? [];
    // A list of URNs is what every language accepts, YAML included.
    await stack.writeProgram(program(name, `${parent}aliases: ["${urn}"]`));
    await stack.up();
    expect(emulator.endpoints.list()).toMatchObject([{ id: before?.id, name: "mine", workersMax: 3 }]);
    expect(endpointsIn(await stack.exportState())).toHaveLength(1);
    await stack.writeProgram(program(name, parent));
    await stack.preview("--expect-no-changes");
  }
});

test("an endpoint with drain: false from REST v2 is destroyed over GraphQL after its jobs have ended, as the log says", async () => {
  await using emulator = await startEmulator({ profile: "contract", drainMs: 100 });
  const stack = await createStack({
    program: `${HEAD}new ServerlessEndpoint("one", { ...args, name: "one", drain: false });`,
    env: { ...emulator.env, SERVERLESS_GPU_API: "v2" },
  });
  await stack.up();
  const { output } = await stack.succeed(["destroy", "--yes", "--skip-preview"], { SERVERLESS_GPU_API: "graphql" });
  expect(output).toMatch(/one: drain is false, but GraphQL cannot .*: the deletion waits until they have completed/);
  expect(emulator.endpoints.list()).toEqual([]);
  expect(emulator.journal.operations({ operation: "saveEndpoint" })).toHaveLength(1);
});

test("options without effect cause a warning, and the deletion of a volume lists what is lost", async () => {
  await using emulator = await startEmulator({ profile: "contract", drainMs: 100 });
  const program = `${HEAD}
const guard = new ServerlessEndpoint("guard", args, { ignoreChanges: ["readme", "env", "workersMax"] });
new ServerlessEndpoint("owned", args, { deletedWith: guard });
new NetworkVolume("models", { name: "models", size: 50, dataCenterId: "EU-RO-1" });
`;
  const stack = await createStack({ program, env: emulator.env });
  const { output } = await stack.up();
  expect(printedOnce(output, /warning: .*/g)).toEqual([
    expect.stringMatching(/deletedWith: the service never deletes a ServerlessEndpoint together .* still be charged/),
    expect.stringContaining('ignoreChanges: "readme" has no effect, because a ServerlessEndpoint has no such property'),
  ]);
  await stack.preview("--expect-no-changes");
  const destroyed = await stack.destroy();
  expect(destroyed.output).toMatch(/models: deletes network volume \S+: all data on its 50 GB in EU-RO-1 is lost/);
  // As the warning says.
  expect(emulator.endpoints.list().map(({ name }) => name)).toEqual([expect.stringMatching(/^owned-/)]);
});

test("a failed smoke test runs again even if the program returns to the inputs of the last successful test", async () => {
  await using emulator = await startEmulator({
    profile: "contract",
    drainMs: 100,
    coldStartMs: 0,
    handlers: { one: () => ({ text: answer }) },
  });
  let answer = "4";
  const program = (trigger: number) => `${HEAD}
const endpoint = new ServerlessEndpoint("one", { ...args, name: "one" });
const test = new SmokeTest("responds", {
  endpointId: endpoint.endpointId, input: { prompt: "x" }, expectedOutput: { text: "4" }, triggers: [${trigger}],
});
exports.status = test.status;
`;
  const submits = () => emulator.journal.requests({ operation: "run" }).length;
  const stack = await createStack({ program: program(1), env: emulator.env });
  const { output } = await stack.up();
  expect(printedOnce(output, /SmokeTest: .*/g)).toEqual([
    expect.stringMatching(/^SmokeTest: job \S+ at endpoint \S+ passed after \d+\.\d s$/),
  ]);
  answer = "5";
  await stack.writeProgram(program(2));
  expect((await stack.run(UP)).exitCode).not.toBe(0);
  await stack.refresh();
  await stack.writeProgram(program(1));
  expect((await stack.run(UP)).exitCode).not.toBe(0);
  expect(submits()).toBe(3);
  answer = "4";
  await stack.up();
  expect(submits()).toBe(4);
  await stack.preview("--refresh", "--expect-no-changes");
  expect(JSON.stringify(await stack.exportState())).not.toContain("__failed");
});
