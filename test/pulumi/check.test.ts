import { existsSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Emulator, startEmulator } from "../../emulator";
import { REHEARSE_COMPILED } from "../support/compiledCode";
import { IS_EVERYWHERE } from "../support/everywhere";
import { newMachine, programOf, startService } from "../support/rollOuts";
import { createStack, type PulumiStack } from "./harness";
import { createPluginStack, withPlugin } from "./pluginStack";

const MAIN = path.resolve(__dirname, "../../dist/cli/main.js");

interface Wanted {
  readonly one: number;
  readonly two: number;
  readonly place: string;
  readonly hasGone: boolean;
  readonly pool: string;
}

/** Excludes every GPU type of its pool. */
const NO_GPU = "ADA_24,-NVIDIA GeForce RTX 4090";

const BEFORE: Wanted = { one: 4, two: 1, place: "EU-RO-1", hasGone: true, pool: "ADA_24" };
const AFTER: Wanted = { one: 1, two: 4, place: "EU-RO-1", hasGone: false, pool: NO_GPU };

/**
 * One endpoint is lowered, one raised, one is unchanged, and one volume is deleted.
 */
const source = ({ one, two, place, hasGone, pool }: Wanted) => `
const ada = { gpuIds: ["ADA_24"], templateId: "t" };
const models = new NetworkVolume("models", { name: "models", size: 20, dataCenterId: "${place}" });
${hasGone ? 'new NetworkVolume("gone", { name: "gone", size: 20, dataCenterId: "EU-RO-1" });' : ""}
new ServerlessEndpoint("kept", { ...ada, workersMin: 1, workersMax: 2 });
new ServerlessEndpoint("one", { ...ada, workersMax: ${one}, locations: ["RO"] });
new ServerlessEndpoint("two", { ...ada, workersMax: ${two}, networkVolumeId: models.id });
${pool === "ADA_24" ? "" : `new ServerlessEndpoint("new", { ...ada, gpuIds: ${JSON.stringify(pool.split(","))}, workersMax: 1 });`}
`;

const FORMS = ["dynamic", "plugin"] as const;

/** `npm run test:everywhere` runs both tests in both forms, and other runs each in one of them. */
const formsOf = (form: (typeof FORMS)[number]) => (IS_EVERYWHERE ? FORMS : [form]);

/** Creates a stack with a program, and returns it with a function that changes the program. */
async function stackOf(form: (typeof FORMS)[number], env: Readonly<Record<string, string>>, program: string) {
  const classes = "{ NetworkVolume, ServerlessEndpoint }";
  const text = (source: string) =>
    form === "plugin"
      ? `const ${classes} = plugin;\n${source}`
      : `const ${classes} = require("pulumi-serverless-gpu");\n${source}`;
  const stack =
    form === "plugin"
      ? await createPluginStack(text(program), env)
      : await createStack({ program: text(program), env });
  const write = (source: string) => stack.writeProgram(form === "plugin" ? withPlugin(text(source)) : text(source));
  return { stack, write };
}

let emulator: Emulator;
beforeEach(async () => {
  emulator = await startEmulator({ profile: "observed", drainMs: 0, coldStartMs: 0, workerQuota: 9 });
});
afterEach(() => emulator.stop());

const CATALOG = ["gpuTypes", "dataCenters", "serverlessGpuPools", "listGpus", "listDataCenters"];
const asked = () => emulator.journal.operations().filter((each) => CATALOG.includes(each));

/** Runs the command in the program's folder. */
const check = (stack: PulumiStack, ...args: string[]) => stack.exec(process.execPath, [MAIN, "check", ...args]);

test.each(
  formsOf("dynamic"),
)("a real preview of the %s form is checked as a whole, both from a file and by stack name", async (form) => {
  const { stack, write } = await stackOf(form, emulator.env, source(BEFORE));
  await stack.up();
  // Once in the run, although four writes asked for it.
  expect(asked().sort()).toEqual(["dataCenters", "gpuTypes"]);
  emulator.journal.clear();
  await stack.preview("--expect-no-changes");
  expect(asked()).toEqual([]);

  await write(source(AFTER));
  emulator.faults.add({ match: { pool: "ADA_24", dataCenterId: "EU-RO-1" }, effect: { stock: "Low" } });
  const { stdout } = await stack.run(["preview", "--json", "--show-sames"]);
  expect(new Set(emulator.journal.operations())).toEqual(new Set(["myself"]));
  writeFileSync(path.join(stack.folder, "preview.json"), stdout);
  const found = await check(stack, "preview.json", "--max-per-hour", "100");
  expect(found.exitCode).toBe(4);
  const lines = found.stdout.split("\n").map((line) => line.replace(/ {2,}/g, "  "));
  expect(lines).toEqual(
    expect.arrayContaining([
      "Endpoints and network volumes: 1 to create, 2 to change, 1 to delete, 2 unchanged",
      "kept  unchanged  $2.24  $1.12  $1.12 (ADA_24)",
      expect.stringMatching(/^one {2}.*workersMax 4 → 1.* {2}\$4\.48 → \$1\.12 {2}\$0\.00 {2}\$1\.12 \(ADA_24\)$/),
      expect.stringMatching(/^two {2}.*workersMax 1 → 4.* {2}\$1\.12 → \$4\.48 {2}\$0\.00 {2}\$1\.12 \(ADA_24\)$/),
      "new  created  - → $1.12  - → $0.00  $1.12 (ADA_24)",
      expect.stringMatching(/^in all {2}\$7\.84 → \$8\.96 /),
      expect.stringMatching(
        /^IMPOSSIBLE {2}new: gpuIds excludes every GPU type of ADA_24: .* To allow it: --allow impossible=new$/,
      ),
      expect.stringMatching(/^UNLIKELY {2}two: the stock of ADA_24 in EU-RO-1 is Low .* Better there: /),
      expect.stringMatching(
        /^UNLIKELY {2}the account's workersMax is 8 after the change, within its quota of 9 .* reach 11 on the way/,
      ),
      expect.stringMatching(/^DATA LOSS {2}gone: the change deletes the network volume \w+ \(gone, 20 GB in EU-RO-1\)/),
    ]),
  );
  const byStack = await check(stack, "--stack", "dev", "--json");
  expect([byStack.exitCode, JSON.parse(byStack.stdout).impossible]).toMatchObject([
    4,
    [{ kind: "exclusions", resource: "new" }],
  ]);

  const up = await stack.run(["up", "--yes", "--skip-preview"]);
  expect(up.exitCode).not.toBe(0);
  expect(up.output).toContain("gpuIds excludes every GPU type of ADA_24");
  expect(up.output).toContain("nothing was written");

  await write(source({ ...AFTER, one: -2 }));
  const failed = await check(stack, "--stack", "dev");
  expect([failed.exitCode, failed.output]).toEqual([
    1,
    expect.stringMatching(/the preview failed.*workersMax:? must be/s),
  ]);
});

const endpoint = (name: string, settings = "workersMax: 1", options = "{}") =>
  `new ServerlessEndpoint("${name}", { gpuIds: ["ADA_24"], templateId: "t", ${settings} }, ${options});`;
const volume = (name: string, settings = 'size: 20, dataCenterId: "EU-RO-1"') =>
  `new NetworkVolume("${name}", { name: "${name}", ${settings} });`;
const unlike = 'workersMax: 1, executionTimeoutMs: 9000, scalerType: "REQUEST_COUNT", scalerValue: 9';
const TABLE_BEFORE = [
  ...[endpoint("zero", "workersMax: 2"), endpoint("both", "workersMin: 1, workersMax: 2"), endpoint("gone", unlike)],
  ...[endpoint("renamed"), endpoint("kept"), volume("models"), volume("moved"), volume("lost")],
];
const REGRESSIONS = [
  ...[endpoint("zero", "workersMax: 0"), endpoint("both", "workersMin: 0, workersMax: 0"), endpoint("renamed2")],
  ...[endpoint("kept"), volume("models")],
];
const HARMLESS = [
  ...[endpoint("zero", "workersMax: 10"), endpoint("both", "workersMin: 0, workersMax: 1"), endpoint("gone", unlike)],
  ...[endpoint("renamed2", "workersMax: 1", '{ aliases: [{ name: "renamed" }] }'), endpoint("new")],
  ...[endpoint("kept", "workersMax: 1, idleTimeout: 60"), volume("models", 'size: 40, dataCenterId: "EU-RO-1"')],
  ...[volume("moved"), volume("lost"), volume("added")],
];

test.each(
  formsOf("plugin"),
)("a rehearsal of the %s form finds the dangers of the preview, and none in harmless changes", async (form) => {
  const { stack, write } = await stackOf(form, emulator.env, TABLE_BEFORE.join("\n"));
  await stack.up();
  const found = async (...options: string[]) => {
    const { exitCode, stdout, stderr } = await check(stack, "--stack", "dev", "--json", ...options);
    if (!stdout.startsWith("{")) throw new Error(stderr);
    const json = JSON.parse(stdout) as Record<string, readonly { resource: string }[]>;
    const levels = ["data", "deleted", "replaced", "renamed", "zero", "rejected", "impossible"];
    const names = levels.map((level) => [level, (json[level] ?? []).map(({ resource }) => resource).sort()] as const);
    return { exitCode, ...Object.fromEntries(names.filter(([, all]) => all.length > 0)) };
  };
  const rehearsal = ["--rehearse", "--from-state", ...REHEARSE_COMPILED];
  await write(REGRESSIONS.join("\n"));
  const dangers = { data: ["lost", "moved"], deleted: ["gone"], renamed: ["renamed"], zero: ["both", "zero"] };
  expect(await found()).toEqual({ exitCode: 4, ...dangers });
  expect(await found(...rehearsal)).toEqual({ exitCode: 4, ...dangers });
  await write(HARMLESS.join("\n"));
  expect(await found(...rehearsal)).toEqual({ exitCode: 0 });
}, 400_000);

test("a release that the last up rejected is a danger until the program changes, whatever onFailure is", async () => {
  await using service = await startService();
  const env = { SERVERLESS_GPU_API: "v2", SERVERLESS_GPU_SERVICE: "runpod", XDG_CACHE_HOME: newMachine() };
  const { automaticName: _, ...good } = programOf("good");
  const program = (args: object) => {
    const endpoints = ["restore", "keep"].map((onFailure) => {
      const all = { ...good, ...args, rollOut: { ...(good.rollOut as object), onFailure } };
      return `new ServerlessEndpoint("${onFailure}", ${JSON.stringify(all)});`;
    });
    return `const { ServerlessEndpoint } = require("pulumi-serverless-gpu");\n${endpoints.join("\n")}`;
  };
  const stack = await createStack({ program: program({}), env: { ...service.env, ...env } });
  const commit = async (args: object) => {
    await stack.writeProgram(program(args));
    const author = ["-c", "user.name=x", "-c", "user.email=x@example.com"];
    for (const words of [
      ["init", "-q"],
      ["add", "-A"],
      [...author, "commit", "-qm", "change"],
    ])
      await stack.exec("git", words);
  };
  await commit({});
  await stack.up();
  expect((await check(stack, "--stack", "dev")).exitCode).toBe(0);
  await commit({ imageName: "me/llama-wrong", env: { VERSION: "bad" } });
  expect((await check(stack, "--stack", "dev")).exitCode).toBe(0);
  expect((await stack.run(["up", "--yes", "--skip-preview"])).exitCode).not.toBe(0);
  const rejected = await check(stack, "--stack", "dev");
  expect(rejected.exitCode).toBe(4);
  for (const name of ["restore", "keep"])
    expect(rejected.stdout).toMatch(new RegExp(`^REJECTED RELEASE {2}${name}: the last up `, "m"));
  const allowed = ["restore", "keep"].flatMap((name) => ["--allow", `rejected=${name}`]);
  expect((await check(stack, "--stack", "dev", ...allowed)).exitCode).toBe(0);
  await commit({ imageName: "me/llama-2-good" });
  expect((await check(stack, "--stack", "dev")).exitCode).toBe(0);
}, 300_000);

/** Begins with the file, and then blocks its process for ever, as an endless loop would. */
const ENDLESS = `require("fs").writeFileSync("started", "");
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);`;

test.each([
  ["", []],
  [" with --rehearse", ["--rehearse", "--from-state", ...REHEARSE_COMPILED]],
])("a check%s of a program that does not end prints progress, and Ctrl-C stops every process", async (_, more) => {
  const stack = await createStack({ program: ENDLESS, env: emulator.env });
  const running = check(stack, "--stack", "dev", ...more);
  while (!existsSync(path.join(stack.folder, "started"))) await sleep(50);
  await sleep(16_000);
  const found = (await stack.processes()).filter(({ command }) => command.includes("check --stack"));
  expect(found).toHaveLength(1);
  for (const { pid } of found) process.kill(pid, "SIGINT");
  const { exitCode, output } = await running;
  expect({ exitCode, output }).toEqual({
    exitCode: 130,
    output: expect.stringContaining("pulumi preview is still running (1"),
  });
  // A killed process needs a moment to end.
  for (let tries = 0; (await stack.processes()).length > 0 && tries < 50; tries++) await sleep(100);
  expect(await stack.processes()).toEqual([]);
});
