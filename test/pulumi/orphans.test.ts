import path from "node:path";
import { type Emulator, startEmulator } from "../../emulator";
import { createStack, type PulumiStack } from "./harness";

// Orphans as they come about: by hand, by a killed `up`, and by a stack that was removed.

const PROGRAM = `
const { ServerlessEndpoint, ServerlessTemplate, NetworkVolume, Secret } = require("pulumi-serverless-gpu");
new ServerlessTemplate("t", { imageName: "app:1" });
new Secret("token", { value: "canary-orphan" });
new NetworkVolume("models", { size: 50, dataCenterId: "EU-RO-1" });
new ServerlessEndpoint("llama", { gpuIds: "ADA_24", templateId: "tpl", workersMin: 0, workersMax: 3 });
`;

const CLI = path.resolve(__dirname, "../../dist/cli/main.js");

interface Listed {
  readonly kind: string;
  readonly id: string;
  readonly certainty: string;
  readonly reason: string;
  readonly costPerMonth: { readonly atRest: number | null; readonly fullScale: number | null };
}

let emulator: Emulator;
let stack: PulumiStack;

const orphans = (...args: string[]) => stack.exec("node", [CLI, "orphans", ...args]);

async function list(...args: string[]): Promise<readonly [number | null, readonly Listed[]]> {
  const { exitCode, stdout, output } = await orphans("--json", ...args);
  expect(output).not.toContain("canary-orphan");
  if (![0, 3, 4].includes(exitCode ?? -1)) throw new Error(output);
  return [exitCode, (JSON.parse(stdout) as { orphans: Listed[] }).orphans];
}

beforeAll(async () => {
  emulator = await startEmulator({ drainMs: 0 });
  stack = await createStack({ program: PROGRAM, env: emulator.env });
  // Somebody else's, with names that nobody takes for automatic ones.
  emulator.endpoints.create({ id: "theirs", name: "their endpoint", gpuIds: "ADA_24", templateId: "tpl" });
  emulator.templates.create({ name: "their template", imageName: "theirs:1", isServerless: true });
  await stack.up();
});
afterAll(() => emulator.stop());

test("what a stack manages, and what has a name of its own, is no orphan", async () => {
  expect(await list()).toEqual([0, []]);
  expect((await orphans("--stack", "dev")).stdout).toContain("No orphans");
});

test("a state that cannot be read is a failure: everything would look like an orphan", async () => {
  const { exitCode, output } = await orphans("--stack", "none");
  expect(exitCode).toBe(1);
  expect(output).toContain("Nothing was listed");
});

test("records that were taken out of the state by hand are found, with their cost, and deleted one by one", async () => {
  const before = await stack.exportState();
  const resources = before.deployment.resources ?? [];
  const own = resources.filter(({ type }) => type.includes("serverless-gpu:"));
  const kept = resources.filter((each) => !own.includes(each));
  await stack.importState({ ...before, deployment: { ...before.deployment, resources: kept } });

  const [exitCode, found] = await list();
  expect(exitCode).toBe(3);
  expect(found.map(({ id }) => id).sort()).toEqual(own.map(({ id }) => id).sort());
  const of = (kind: string) => found.find((each) => each.kind === kind);
  // The names of endpoints and volumes can be computed; the digits of the others are random.
  expect(of("endpoint")).toMatchObject({
    certainty: "proven",
    reason: expect.stringContaining("organization/test/dev"),
  });
  expect(of("network volume")).toMatchObject({ certainty: "proven", costPerMonth: { atRest: 3.5, fullScale: 3.5 } });
  expect(of("template")).toMatchObject({ certainty: "suspicion" });
  expect(of("secret")).toMatchObject({ certainty: "suspicion", costPerMonth: { atRest: 0 } });
  expect(of("endpoint")?.costPerMonth.atRest).toBe(0);
  expect(of("endpoint")?.costPerMonth.fullScale).toBeGreaterThan(1);

  // Only an orphan is deleted.
  expect((await orphans("--delete", "theirs")).exitCode).toBe(1);
  const endpoint = of("endpoint")?.id ?? "";
  const deleted = await orphans("--delete", endpoint);
  expect(deleted).toMatchObject({ exitCode: 0, stdout: `deleted endpoint ${endpoint}\n` });
  // With the workers at zero first, as the provider does.
  const saves = emulator.journal.requests({ operation: "saveEndpoint", endpointId: endpoint });
  expect(saves.at(-1)?.arguments.input).toMatchObject({ workersMin: 0, workersMax: 0 });
  for (const { id } of found) if (id !== endpoint) expect((await orphans("--delete", id)).exitCode).toBe(0);
  expect(await list()).toEqual([0, []]);
  expect(emulator.endpoints.list().map(({ id }) => id)).toEqual(["theirs"]);
});

test("what is in the state is never deleted", async () => {
  await stack.up();
  const [endpoint] = emulator.endpoints.list().filter(({ id }) => id !== "theirs");
  const refused = await orphans("--delete", endpoint?.id ?? "");
  expect(refused.exitCode).toBe(1);
  expect(refused.output).toContain("is in the state of stack");
  expect(emulator.endpoints.get(endpoint?.id ?? "")).toBeDefined();
});

test("what the stack of a closed pull request left is proven by its name, and a suspicion without it", async () => {
  await stack.succeed(["stack", "init", "pr-7"]);
  await stack.succeed(["up", "--yes", "--skip-preview", "--stack", "pr-7"]);
  await stack.succeed(["stack", "rm", "pr-7", "--yes", "--force"]);
  await stack.succeed(["stack", "select", "dev"]);
  const [suspected, found] = await list("--stack", "dev");
  expect([suspected, found.length]).toEqual([4, 4]);
  const [proven, again] = await list("--stack", "dev", "--ended", "organization/test/pr-7");
  expect(proven).toBe(3);
  expect(again.filter(({ certainty }) => certainty === "proven").map(({ kind }) => kind)).toEqual([
    "endpoint",
    "network volume",
  ]);
  for (const { id } of again) expect((await orphans("--delete", id)).exitCode).toBe(0);
  expect(await list()).toEqual([0, []]);
});

test("what a killed up created and did not record is found", async () => {
  await stack.succeed(["stack", "init", "pr-8"]);
  // The create has its effect, and its response hangs: the engine is killed before it knows the id.
  emulator.faults.add({ match: { operation: "saveEndpoint" }, effect: { hang: true, when: "after" }, times: 1 });
  const count = emulator.endpoints.list().length;
  const running = stack.run(["up", "--yes", "--skip-preview", "--stack", "pr-8"]);
  while (emulator.endpoints.list().length === count) await new Promise((resolve) => setTimeout(resolve, 20));
  for (const { pid } of await stack.processes()) process.kill(pid, "SIGKILL");
  await running;
  emulator.faults.clear();
  const [exitCode, found] = await list();
  expect(exitCode).toBe(3);
  expect(found.filter(({ kind }) => kind === "endpoint")).toMatchObject([{ certainty: "proven" }]);
  expect(found.map(({ id }) => id)).not.toContain("theirs");
}, 300_000);
