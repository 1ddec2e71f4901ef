import path from "node:path";
import { type Emulator, startEmulator } from "../../emulator";
import { REHEARSE_COMPILED } from "../support/compiledCode";
import { createStack, type PulumiStack } from "./harness";

const COMMAND = path.resolve(__dirname, "../../dist/cli/main.js");
const JOBS = Array.from({ length: 60 }, (_, index) => `${index * 60},3`).join("\n");

const program = (...endpoints: readonly string[]) => `
const { ServerlessEndpoint } = require("pulumi-serverless-gpu");
${endpoints.join("\n")}`;
const whisper = (settings: string) =>
  `new ServerlessEndpoint("whisper", { templateId: "t", gpuIds: "ADA_24", ${settings} });`;

let emulator: Emulator;
let stack: PulumiStack;

beforeAll(async () => {
  emulator = await startEmulator({ profile: "contract" });
  stack = await createStack({
    program: program(whisper('workersMax: 5, scalerType: "REQUEST_COUNT", scalerValue: 2')),
    env: emulator.env,
  });
  await stack.writeFile("jobs.csv", `arrival_s,duration_s\n${JOBS}\n`);
});

afterAll(() => emulator.stop());

const forecast = (...args: string[]) =>
  stack.exec(process.execPath, [COMMAND, "forecast", "--load", "jobs.csv", "--seeds", "2", ...args]);

const check = (...args: string[]) =>
  stack.exec(process.execPath, [
    ...[COMMAND, "check", "--load", "jobs.csv", "--stack", "dev", "--from-state", "--seeds", "2"],
    ...[...args, ...REHEARSE_COMPILED],
  ]);

test("a forecast reads the settings from the stack, and check --load compares them with those of the program", async () => {
  const empty = await forecast("--stack");
  expect(empty).toMatchObject({ exitCode: 1, stdout: "" });
  expect(empty.stderr).toContain("the stack has no ServerlessEndpoint");

  await stack.succeed(["up", "--yes", "--skip-preview"]);
  const calls = emulator.journal.operations().length;
  const changed = await forecast("--stack", "--set", "scalerValue=8", "--json");
  expect(JSON.parse(changed.stdout).results).toEqual([
    expect.objectContaining({ title: "Stack", settings: expect.objectContaining({ scalerValue: 8, workersMin: 0 }) }),
  ]);
  await stack.writeFile("index.js", program(whisper("workersMin: 1, workersMax: 5")));
  const compared = await check();
  expect(compared.exitCode).toBe(0);
  // What is removed from the program gets its default again.
  expect(compared.stdout).toContain("\nBefore: REQUEST_COUNT 2, workers 0 to 5,");
  expect(compared.stdout).toContain("\nAfter: QUEUE_DELAY 4, workers 1 to 5, idleTimeout 10 s,");

  await stack.writeFile(
    "index.js",
    program(whisper(""), 'new ServerlessEndpoint("llama", { templateId: "t", gpuIds: "ADA_24" });'),
  );
  expect((await check()).stderr).toContain("the program has 2 endpoints: choose one for --load with --endpoint: ");
  const misspelled = await check("--endpoint", "lama");
  expect(misspelled.stderr).toContain('the program has no endpoint "lama". Did you mean llama?');
  // Neither command changes anything at the service.
  expect(emulator.journal.operations().slice(calls)).not.toContain("saveEndpoint");
}, 300_000);

test("the schedule is read from the state, and check --load compares the delays of each rule with those of the program", async () => {
  const scheduled = (hour: number) =>
    program(
      whisper(`schedule: { timeZone: "UTC", rules: [
        { cron: "0 ${hour} * * *", workersMin: 1, workersMax: 2 }, { cron: "0 20 * * *", workersMin: 0, workersMax: 1 },
      ] }`),
    );
  await stack.writeFile("index.js", scheduled(8));
  await stack.succeed(["up", "--yes", "--skip-preview"]);
  const from = ["--from", "2026-12-01T07:30Z"];
  const { stdout } = await forecast("--stack", ...from);
  expect(stdout).toContain(", from Tue, 1 Dec 2026, 07:30 (UTC) on. A month's cost assumes that this load repeats.\n");
  expect(stdout).toContain("\nStack: QUEUE_DELAY 4, workers by schedule, idleTimeout 10 s,");
  expect(stdout).toMatch(/\n0 8 \* \* \*: workersMin 1, workersMax 2 +30 /);
  expect(stdout).toMatch(/\nInstead of workers 1 to 2 all the time, the schedule saves \$/);

  await stack.writeFile("index.js", scheduled(9));
  const compared = (await check(...from)).stdout;
  expect(compared).toContain('\nChange: schedule.rules[0].cron: "0 9 * * *"\n');
  expect(compared).toMatch(
    /\nBefore: jobs that arrive .*\n0 8 \* \* \*: .*\nAfter: jobs that arrive .*\n0 9 \* \* \*: /s,
  );
  await stack.writeFile("index.js", program(whisper("workersMax: 2")));
  const removed = (await check(...from)).stdout;
  expect(removed).toContain("\nBefore: QUEUE_DELAY 4, workers by schedule,");
  expect(removed).toContain("\nAfter: QUEUE_DELAY 4, workers 0 to 2,");
  expect(removed).not.toContain("After: jobs that arrive");
}, 300_000);
