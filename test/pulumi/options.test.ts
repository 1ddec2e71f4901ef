import { type Emulator, startEmulator } from "../../emulator";
import { heldJob, occupyWorker } from "../support/heldWorker";
import { createStack, endpointsIn, type PulumiStack } from "./harness";

/** The endpoints of the program, each with its resource options. */
const program = (...names: string[]) => `
const { ServerlessEndpoint } = require("pulumi-serverless-gpu");
const wanted = ${JSON.stringify(names)};
const made = {};
function endpoint(name, args, options) {
  const all = { name, gpuIds: "AMPERE_16", templateId: "template", ...args };
  if (wanted.includes(name)) made[name] = new ServerlessEndpoint(name, all, options);
}
endpoint("guarded", {}, { protect: true });
endpoint("retained", {}, { retainOnDelete: true });
endpoint("owner", {});
endpoint("owned", {}, { deletedWith: made.owner });
endpoint("busy", { workersMin: 1, drainTimeout: 1 });
endpoint("greedy", { workersMax: 10 });
`;

const job = heldJob();
let emulator: Emulator;
let stack: PulumiStack;

beforeAll(async () => {
  const handlers = { busy: job.handler };
  emulator = await startEmulator({ profile: "contract", drainMs: 100, coldStartMs: 0, workerQuota: 20, handlers });
  stack = await createStack({ program: program("guarded", "retained", "owner", "owned", "busy"), env: emulator.env });
});

beforeEach(() => emulator.journal.clear());

afterAll(() => emulator.stop());

const names = () =>
  emulator.endpoints
    .list()
    .map(({ name }) => name)
    .sort();
const idOf = (name: string) => emulator.endpoints.list().find((each) => each.name === name)?.id ?? "";

async function namesInState() {
  const endpoints = endpointsIn(await stack.exportState());
  return endpoints.map(({ outputs }) => outputs?.name).sort();
}

test("workers that are billed while idle cause a warning on their resource", async () => {
  const { output } = await stack.up();
  const warnings = output.match(/^.*ServerlessEndpoint \((.*)\):\n +warning: workersMin is 1: 1 worker is billed/gm);
  expect(warnings).toHaveLength(1);
  expect(warnings?.[0]).toContain("(busy)");
});

test("workers of several endpoints that are billed while idle cause a single warning", async () => {
  const warm =
    "new ServerlessEndpoint('warm-' + n, { gpuIds: 'AMPERE_16', templateId: 'template', workersMin: of(n) });";
  const several = await createStack({
    program: `
const pulumi = require("@pulumi/pulumi");
const { ServerlessEndpoint } = require("pulumi-serverless-gpu");
const of = (n) => (n === 2 ? pulumi.secret(2) : n === 3 ? pulumi.output(3) : 1);
for (let n = 1; n <= 12; n++) ${warm}`,
    env: emulator.env,
  });
  const { output } = await several.preview();
  expect(output.match(/^ +warning: .*/gm)).toEqual([
    expect.stringMatching(
      /^ +warning: workersMin is above 0, so workers of 12 endpoints are billed even while idle: "warm-/,
    ),
  ]);
  expect(output).toMatch(/"warm-3" \(3\)|, and 2 more/);
  expect(output).not.toMatch(/"warm-2" \(2\)/);
});

test("an endpoint above the quota is not created, and the error names the endpoints that use the quota", async () => {
  await stack.writeProgram(program("guarded", "retained", "owner", "owned", "busy", "greedy"));
  const { exitCode, output } = await stack.run(["up", "--yes", "--skip-preview"]);
  expect(exitCode).not.toBe(0);
  expect(output).toContain("workersMax counts against one quota for the whole account");
  expect(output).toContain("In use now: 15 by ");
  for (const name of ["guarded", "retained", "owner", "owned", "busy"]) {
    expect(output).toContain(`"${name}" (${idOf(name)}) 3`);
  }
  expect(names()).not.toContain("greedy");
  expect(await namesInState()).not.toContain("greedy");
});

test("with protect, destroy stops before it deletes anything", async () => {
  const { exitCode, output } = await stack.run(["destroy", "--yes"]);
  expect(exitCode).not.toBe(0);
  expect(output).toMatch(/guarded.*cannot be deleted/);
  expect(emulator.journal.operations()).toEqual([]);
});

test("with retainOnDelete or deletedWith, the resource leaves the state without a request to the service", async () => {
  await stack.writeProgram(program("guarded", "busy"));
  const deleted = idOf("owner");
  await stack.up();
  expect(emulator.journal.requests({ operation: "deleteEndpoint" })).toMatchObject([{ endpointId: deleted }]);
  const touched = emulator.journal.requests({ operation: "saveEndpoint" }).map(({ endpointId }) => endpointId);
  expect(touched).toEqual([deleted]);
  expect(names()).toEqual(["busy", "guarded", "owned", "retained"]);
  expect(await namesInState()).toEqual(["busy", "guarded"]);
});

test("with drainTimeout, a deletion fails and keeps the endpoint if workers run too long, and succeeds later", async () => {
  await occupyWorker(emulator, idOf("busy"));
  await stack.writeProgram(program("guarded"));
  const failed = await stack.run(["up", "--yes", "--skip-preview"]);
  expect(failed.exitCode).not.toBe(0);
  expect(failed.output).toMatch(
    new RegExp(`endpoint ${idOf("busy")} was not deleted within 1 s: 1 of its workers still runs. It still exists`),
  );
  expect(await namesInState()).toContain("busy");
  // It is in service again: its workers were put back.
  expect(emulator.endpoints.get(idOf("busy"))).toMatchObject({ workersMin: 1, workersMax: 3 });

  job.release();
  await stack.succeed(["state", "unprotect", "--all", "--yes"]);
  await stack.destroy();
  expect(names()).toEqual(["owned", "retained"]);
  expect(await namesInState()).toEqual([]);
});
