import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { type Emulator, manualClock, startEmulator } from "../../emulator";
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
const remove = (id: string, ...args: string[]) => orphans("--delete", id, ...args);
const ENDED = "--runs-have-ended";
const NOBODY = "--nobody-manages-it";

async function list(...args: string[]): Promise<readonly [number | null, readonly Listed[]]> {
  const { exitCode, stdout, output } = await orphans("--json", ...args);
  expect(output).not.toContain("canary-orphan");
  if (![0, 3, 4, 5].includes(exitCode ?? -1)) throw new Error(output);
  return [exitCode, (JSON.parse(stdout) as { orphans: Listed[] }).orphans];
}

beforeAll(async () => {
  emulator = await startEmulator({ profile: "contract", drainMs: 0 });
  stack = await createStack({ program: PROGRAM, env: emulator.env });
  // Somebody else's, with names that nobody takes for automatic ones.
  emulator.endpoints.create({ id: "theirs", name: "their endpoint", gpuIds: "ADA_24", templateId: "tpl" });
  emulator.templates.create({ name: "their template", imageName: "theirs:1", isServerless: true });
  await stack.up();
});
afterAll(() => emulator.stop());

test("records that a stack manages, and records whose names are not automatic, are not orphans", async () => {
  expect(await list()).toEqual([0, []]);
  expect((await orphans("--stack", "dev")).stdout).toContain(
    "No orphans: every resource with an automatic name is in the state of the one stack that was read.\n",
  );
});

test("an unreadable state is an error, because otherwise every record would look like an orphan", async () => {
  const { exitCode, output } = await orphans("--stack", "none");
  expect(exitCode).toBe(1);
  expect(output).toContain("Nothing was listed");
});

test("a backend without stacks is reported, because its URL may be wrong", async () => {
  const backend = `file://${stack.scratch}/empty`;
  await mkdir(path.join(stack.scratch, "empty"));
  const { output } = await orphans("--backend", backend);
  expect(output).toContain(`${backend} contains no stacks. If it should, check its URL first.`);
});

test("records that were removed from state by hand are found with their costs and deleted one by one", async () => {
  const before = await stack.exportState();
  const resources = before.deployment.resources ?? [];
  const own = resources.filter(({ type }) => type.includes("serverless-gpu:"));
  const kept = resources.filter((each) => !own.includes(each));
  await stack.importState({ ...before, deployment: { ...before.deployment, resources: kept } });

  const [exitCode, found] = await list();
  expect(exitCode).toBe(4);
  expect(found.map(({ id }) => id).sort()).toEqual(own.map(({ id }) => id).sort());
  const of = (kind: string) => found.find((each) => each.kind === kind);
  // The names of endpoints and volumes can be computed; the digits of the others are random.
  // Another backend may have a stack of the same name, unless somebody says that it has ended.
  expect(of("endpoint")).toMatchObject({
    certainty: "possible",
    reason: expect.stringMatching(/organization\/test\/dev.*another backend/),
  });
  expect(of("network volume")).toMatchObject({ certainty: "possible", costPerMonth: { atRest: 3.5, fullScale: 3.5 } });
  expect(of("template")).toMatchObject({ certainty: "possible" });
  expect(of("secret")).toMatchObject({ certainty: "possible", costPerMonth: { atRest: 0 } });
  expect(of("endpoint")?.costPerMonth.atRest).toBe(0);
  expect(of("endpoint")?.costPerMonth.fullScale).toBeGreaterThan(1);

  // Only an orphan is deleted.
  expect((await remove("theirs", ENDED)).exitCode).toBe(1);
  const endpoint = of("endpoint")?.id ?? "";
  // GraphQL does not say when an endpoint was created.
  expect(await remove(endpoint)).toMatchObject({
    exitCode: 1,
    output: expect.stringContaining(`age of endpoint ${endpoint}`),
  });
  expect(await remove(endpoint, ENDED)).toMatchObject({
    exitCode: 1,
    output: expect.stringMatching(/only a possible orphan.*--ended.*--nobody-manages-it/),
  });
  const deleted = await remove(endpoint, ENDED, NOBODY);
  expect(deleted).toMatchObject({ exitCode: 0, stdout: `deleted endpoint ${endpoint}\n` });
  // With the workers at zero first, as the provider does.
  const saves = emulator.journal.requests({ operation: "saveEndpoint", endpointId: endpoint });
  expect(saves.at(-1)?.arguments.input).toMatchObject({ workersMin: 0, workersMax: 0 });
  for (const { id } of found) if (id !== endpoint) expect((await remove(id, ENDED, NOBODY)).exitCode).toBe(0);
  expect(await list()).toEqual([0, []]);
  expect(emulator.endpoints.list().map(({ id }) => id)).toEqual(["theirs"]);
});

test("records in the state are never deleted", async () => {
  await stack.up();
  const [endpoint] = emulator.endpoints.list().filter(({ id }) => id !== "theirs");
  const refused = await remove(endpoint?.id ?? "", ENDED, NOBODY);
  expect(refused.exitCode).toBe(1);
  expect(refused.output).toContain("is in the state of stack");
  expect(emulator.endpoints.get(endpoint?.id ?? "")).toBeDefined();
});

test("records left by a closed pull request's stack are proven orphans if that stack is named, and otherwise only possible ones", async () => {
  await stack.succeed(["stack", "init", "pr-7"]);
  await stack.succeed(["up", "--yes", "--skip-preview", "--stack", "pr-7"]);
  const exists = await orphans("--ended", "organization/test/pr-7");
  expect(exists).toMatchObject({ exitCode: 1, output: expect.stringContaining("this stack still exists") });
  await stack.succeed(["stack", "rm", "pr-7", "--yes", "--force"]);
  await stack.succeed(["stack", "select", "dev"]);
  const [possible, found] = await list("--stack", "dev");
  expect([possible, found.length]).toEqual([4, 4]);
  const [proven, again] = await list("--stack", "dev", "--ended", "organization/test/pr-7");
  expect(proven).toBe(3);
  expect(again.filter(({ certainty }) => certainty === "proven").map(({ kind }) => kind)).toEqual([
    "endpoint",
    "network volume",
  ]);
  // A stack of that name may live in another backend, whatever somebody says.
  const endpoint = again.find(({ kind }) => kind === "endpoint")?.id ?? "";
  await fetch(`${emulator.url}/v2/${endpoint}/runsync`, {
    method: "POST",
    headers: { authorization: `Bearer ${emulator.apiKey}`, "content-type": "application/json" },
    body: JSON.stringify({ input: { prompt: "x" } }),
  });
  expect(await remove(endpoint, ENDED, "--ended", "organization/test/pr-7")).toMatchObject({
    exitCode: 1,
    output: expect.stringMatching(
      /has run jobs, possibly in the last hour: 1 completed.*--nobody-manages-it. Nothing was/,
    ),
  });
  expect(emulator.endpoints.get(endpoint)).toBeDefined();
  for (const { id, kind, certainty } of again) {
    const args = certainty === "proven" ? ["--ended", "organization/test/pr-7"] : [NOBODY];
    expect((await remove(id, ENDED, ...args, ...(kind === "endpoint" ? [NOBODY] : []))).exitCode).toBe(0);
  }
  expect(await list()).toEqual([0, []]);
});

test("records that a run created but did not record are found, and deleted only once the run has ended and its pending create was cleared", async () => {
  await stack.succeed(["stack", "init", "pr-8"]);
  // The create has its effect, and its response hangs: the engine is killed before it knows the id.
  emulator.faults.add({ match: { operation: "saveEndpoint" }, effect: { hang: true, when: "after" }, times: 1 });
  const before = emulator.endpoints.list().map(({ id }) => id);
  const running = stack.run(["up", "--yes", "--skip-preview", "--stack", "pr-8"]);
  while (emulator.endpoints.list().length === before.length) await new Promise((resolve) => setTimeout(resolve, 20));
  const [{ id = "" } = {}] = emulator.endpoints.list().filter((each) => !before.includes(each.id));
  const refusal = async (...args: string[]) => {
    const { exitCode, output } = await remove(id, ENDED, NOBODY, ...args);
    expect([exitCode, emulator.endpoints.get(id) === undefined]).toEqual([1, false]);
    return output;
  };
  const isRunning = expect.stringMatching(/a run is changing stack .*pr-8/);
  expect(await refusal()).toEqual(isRunning);
  expect(await refusal("--stack", "pr-8")).toEqual(isRunning);
  expect(await refusal("--backend", `file://${stack.scratch}/state`)).toEqual(isRunning);
  // Whatever is named, all stacks of the backend count.
  expect(await refusal("--stack", "dev")).toEqual(isRunning);

  for (const { pid } of await stack.processes()) process.kill(pid, "SIGKILL");
  await running;
  emulator.faults.clear();
  const [exitCode, found] = await list();
  expect(exitCode).toBe(4);
  expect(found.filter(({ kind }) => kind === "endpoint")).toMatchObject([{ id, certainty: "possible" }]);
  expect(found.map((each) => each.id)).not.toContain("theirs");

  // A killed run leaves its lock, and then the create that it had begun.
  expect(await refusal()).toEqual(isRunning);
  await stack.succeed(["cancel", "--yes", "--stack", "pr-8"]);
  expect(await refusal()).toMatch(/stack .*pr-8 has a pending create of urn:\S+::llama/);
  await stack.succeed(["refresh", "--yes", "--stack", "pr-8", "--clear-pending-creates"]);
  expect((await remove(id)).output).toContain(`the age of endpoint ${id} is not known`);
  expect((await remove(id, "--api", "v2")).output).toContain(`endpoint ${id} is less than an hour old`);
  expect((await remove(id, ENDED, NOBODY)).exitCode).toBe(0);
}, 300_000);

test("records that another stack or another backend manages under the same names are not deleted", async () => {
  const own = () => emulator.endpoints.list().filter(({ id }) => id !== "theirs");
  const known = own().map(({ id }) => id);
  const created = () => own().find(({ id }) => !known.includes(id))?.id ?? "";
  await stack.succeed(["stack", "init", "prod"]);
  await stack.succeed(["up", "--yes", "--skip-preview", "--stack", "prod"]);
  const prod = created();
  const refused = await remove(prod, ENDED, NOBODY, "--stack", "dev");
  expect(refused).toMatchObject({ exitCode: 1, output: expect.stringContaining("is in the state of stack") });
  await stack.succeed(["destroy", "--yes", "--skip-preview", "--remove", "--stack", "prod"]);

  // Another team's backend, with a stack of the same name.
  const theirs = { PULUMI_BACKEND_URL: `file://${stack.scratch}/theirs` };
  await mkdir(path.join(stack.scratch, "theirs"));
  await stack.succeed(["stack", "init", "pr-9"], theirs);
  await stack.succeed(["up", "--yes", "--skip-preview", "--stack", "pr-9"], theirs);
  await stack.succeed(["stack", "init", "pr-9"]);
  await stack.succeed(["up", "--yes", "--skip-preview", "--stack", "pr-9", "--target", "**Secret::token"]);
  const live = created();
  const [exitCode, found] = await list();
  expect([exitCode, found.map(({ certainty }) => certainty)]).toEqual([4, found.map(() => "possible")]);
  expect(found.find(({ id }) => id === live)?.reason).toContain("another backend");
  expect((await remove(live, ENDED)).output).toMatch(/only a possible orphan.*Nothing was deleted/s);
  expect(emulator.endpoints.get(live)).toBeDefined();
  // With their backend it is known.
  const both = ["--stack", "dev", "--backend", theirs.PULUMI_BACKEND_URL];
  expect(await list(...both)).toEqual([0, []]);
  expect((await remove(live, ENDED, NOBODY, ...both)).output).toContain("is in the state of stack");
  await stack.succeed(["destroy", "--yes", "--skip-preview", "--stack", "pr-9"], theirs);
  await stack.succeed(["destroy", "--yes", "--skip-preview", "--remove", "--stack", "pr-9"]);
}, 300_000);

test("if the account contains no records from the states, the command says so instead of reporting that there are no orphans", async () => {
  await using other = await startEmulator({ profile: "contract", drainMs: 0 });
  const listed = await stack.exec("node", [CLI, "orphans"], { env: other.env });
  expect(listed).toMatchObject({
    exitCode: 5,
    stdout: expect.stringMatching(/^None of the \d+ resources in the states exists in this account/),
  });
  expect(listed.stdout).not.toContain("No orphans");
  const { id } = other.endpoints.create({ name: "llama-0123abc", gpuIds: "ADA_24", templateId: "tpl" });
  const found = await stack.exec("node", [CLI, "orphans"], { env: other.env });
  expect(found).toMatchObject({ exitCode: 5, stdout: expect.stringMatching(/None of the.*POSSIBLE.*llama-0123abc/s) });
  const deleting = await stack.exec("node", [CLI, "orphans", "--delete", id, ENDED], { env: other.env });
  expect(deleting).toMatchObject({ exitCode: 1, output: expect.stringContaining("None of the") });
  expect(other.endpoints.get(id)).toBeDefined();
});

test("if the account contains no records and the backend no stacks, the command says that it found nothing to compare", async () => {
  await using empty = await startEmulator({ profile: "contract", drainMs: 0 });
  const backend = await mkdtemp(path.join(tmpdir(), "backend-"));
  const env = { ...empty.env, PULUMI_BACKEND_URL: `file://${backend}` };
  expect(await stack.exec("node", [CLI, "orphans", "--backend", `file://${backend}`], { env })).toMatchObject({
    exitCode: 0,
    stdout: "No orphans: the account contains no resources with automatic names.\n",
  });
  await rm(backend, { recursive: true });
});

test("records that are more than an hour old are deleted without the flag if the service returns their age", async () => {
  const clock = manualClock(Date.now() - 3_700_000);
  await using older = await startEmulator({ profile: "contract", drainMs: 0, clock });
  const { id } = older.endpoints.create({ name: "llama-0123abc", gpuIds: "ADA_24", templateId: "tpl" });
  const old = await stack.exec("node", [CLI, "orphans", "--api", "v2", "--delete", id, NOBODY], { env: older.env });
  expect(old).toMatchObject({ exitCode: 0, stdout: `deleted endpoint ${id}\n` });
});

test("what is released, or left because of deletedWith, is named before the run and listed after it", async () => {
  await using service = await startEmulator({ profile: "contract", drainMs: 0 });
  const { id: adopted } = service.endpoints.create({ name: "of the console", gpuIds: "ADA_24", templateId: "tpl" });
  const of = await createStack({ env: service.env });
  await of.writeFile(
    "index.js",
    `const { ServerlessEndpoint, ServerlessTemplate, NetworkVolume } = require("pulumi-serverless-gpu");
const guard = new ServerlessTemplate("guard", { imageName: "app:1" });
new ServerlessEndpoint("adopted", { adoptId: "${adopted}", gpuIds: "ADA_24", templateId: "tpl" });
new ServerlessEndpoint("owned", { gpuIds: "ADA_24", templateId: "tpl", workersMin: 1, workersMax: 1 }, { deletedWith: guard });
new NetworkVolume("data", { size: 10, dataCenterId: "EU-RO-1" }, { deletedWith: guard });
`,
  );
  await of.up();
  const command = async (...args: string[]) => of.exec("node", [CLI, ...args]);
  const left =
    /deletedWith "guard": a run that deletes "guard", such as pulumi destroy, only removes "(owned|data)" from state/g;
  const doctor = JSON.parse((await command("doctor", "--json")).stdout) as {
    checks: { check: string; found: string }[];
  };
  expect(doctor.checks.find(({ check }) => check === "state")?.found.match(left)).toHaveLength(2);
  expect((await command("orphans")).stdout.match(left)).toHaveLength(2);

  await of.writeFile("index.js", "");
  const review = JSON.parse((await command("check", "--stack", "dev", "--json")).stdout);
  expect(review.counts).toEqual({ "to release": 1, "to remove from the state only": 2 });
  const stays = review.stays as { kind: string; resource: string }[];
  expect(stays.map(({ kind, resource }) => `${resource} ${kind}`).sort()).toEqual([
    "adopted released",
    "data skipped",
    "owned skipped",
  ]);
  expect(review.data).toEqual([]);

  const { output } = await of.succeed(["destroy", "--yes", "--skip-preview"]);
  expect(output).toMatch(/is released, not deleted.*serverless-gpu orphans --all/s);
  expect([service.endpoints.list().length, service.volumes.list().length]).toEqual([2, 1]);
  const orphansOf = async (...args: string[]) =>
    (JSON.parse((await command("orphans", "--json", ...args)).stdout).orphans as Listed[]).map(({ kind, id }) => [
      kind,
      id,
    ]);
  expect((await orphansOf()).map(([kind]) => kind).sort()).toEqual(["endpoint", "network volume"]);
  expect(await orphansOf("--all")).toContainEqual(["endpoint", adopted]);
  const confirmed = ["--delete", adopted, ENDED, NOBODY];
  expect((await command("orphans", ...confirmed)).output).toContain(
    "If its name is not automatic, as after a release, add --all",
  );
  expect(await command("orphans", "--all", ...confirmed)).toMatchObject({ exitCode: 0 });
  expect(service.endpoints.get(adopted)).toBeUndefined();
}, 300_000);
