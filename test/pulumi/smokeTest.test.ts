import { type Emulator, startEmulator } from "../../emulator";
import { createStack } from "./harness";

const program = (test: Record<string, unknown>) => `
const pulumi = require("@pulumi/pulumi");
const { ServerlessEndpoint, SmokeTest, getEndpointHealthOutput } = require("pulumi-serverless-gpu");
const endpoint = new ServerlessEndpoint("one", {
  name: "one", gpuIds: "AMPERE_24", templateId: "template", workersMin: 1, awaitReady: true,
});
const test = new SmokeTest("responds", {
  endpointId: endpoint.endpointId,
  input: pulumi.secret({ prompt: "smoke-secret-42" }),
  ...${JSON.stringify(test)},
});
exports.status = test.status;
exports.workers = getEndpointHealthOutput({ endpointId: endpoint.endpointId }).workers.apply((w) => w.idle + w.running);
`;

const NO_JOBS = { completed: 0, failed: 0, inProgress: 0, inQueue: 0, retried: 0 };

let emulator: Emulator;

beforeEach(async () => {
  emulator = await startEmulator({
    profile: "contract",
    drainMs: 100,
    coldStartMs: 0,
    handlers: {
      one: ({ input }) => {
        const { prompt } = input as { prompt: string };
        return { text: prompt.length, extra: true };
      },
    },
  });
});

afterEach(() => emulator.stop());

const submits = () => emulator.journal.requests({ operation: "run" }).length;

test("up waits for the workers, runs one job, and runs it again only after a change", async () => {
  const stack = await createStack({
    program: program({ expectedOutput: { text: 15 }, triggers: [1] }),
    env: emulator.env,
  });
  const starting = { status: 200, body: { jobs: NO_JOBS, workers: { idle: 0, running: 0 } } };
  emulator.faults.add({ match: { operation: "health" }, effect: starting, times: 2 });
  await stack.up();
  expect(await stack.outputs()).toEqual({ status: "COMPLETED", workers: 1 });
  expect(submits()).toBe(1);
  const upToTheJob = emulator.journal.requests({ interface: "queue" }).map(({ operation }) => operation);
  expect(upToTheJob.slice(0, upToTheJob.indexOf("run")).filter((name) => name === "health").length).toBeGreaterThan(2);

  await stack.preview("--refresh", "--expect-no-changes");
  await stack.writeProgram(program({ expectedOutput: { text: 15 }, triggers: [2] }));
  await stack.up();
  expect(submits()).toBe(2);
  expect(JSON.stringify(await stack.exportState())).not.toContain("smoke-secret-42");
  await stack.destroy();
  expect(emulator.endpoints.list()).toEqual([]);
});

test("an unexpected output makes up fail and shows both values, and the next up runs the job again", async () => {
  const stack = await createStack({ program: program({ expectedOutput: { text: 16 } }), env: emulator.env });
  const failed = await stack.run(["up", "--yes", "--skip-preview"]);
  expect(failed.exitCode).not.toBe(0);
  expect(failed.output).toMatch(/job \S+ at endpoint \S+ completed, but its output\.text is not as expected/);
  expect(failed.output).toMatch(/expected: 16\n +actual: {3}15\n/);
  expect(failed.output).not.toContain("smoke-secret-42");
  await stack.writeProgram(program({ expectedOutput: { text: 15 } }));
  await stack.up();
  expect(submits()).toBe(2);
});

test("policy and s3Config reach the service, and the storage key and a secret expected output stay secret", async () => {
  const options = {
    expectedOutput: { text: 15 },
    policy: { ttl: 60_000, lowPriority: false },
    s3Config: { accessId: "id", accessSecret: "storage-secret-42", bucketName: "bucket", endpointUrl: "https://s3" },
  };
  const stack = await createStack({ program: program(options), env: emulator.env });
  await stack.up();
  expect(emulator.journal.requests({ operation: "run" })).toMatchObject([
    { arguments: { policy: options.policy, s3Config: { bucketName: "bucket", accessSecret: "[redacted]" } } },
  ]);
  expect(JSON.stringify(await stack.exportState())).not.toContain("storage-secret-42");

  const secret = program({ ...options, policy: { ttl: 70_000 } }).replace('"text":15', '"text":pulumi.secret(16)');
  await stack.writeProgram(secret);
  const failed = await stack.run(["up", "--yes", "--skip-preview"]);
  expect(failed.output).toMatch(
    /output\.text is not as expected.*\n +The expected value is secret, so neither is shown/,
  );
  expect(failed.output).not.toMatch(/storage-secret-42|smoke-secret-42|actual:/);

  await stack.writeProgram(program({ policy: { ttl: 1 }, s3Config: { bucketName: 5 } }));
  const refused = await stack.run(["preview"]);
  expect(refused.exitCode).not.toBe(0);
  expect(refused.output).toMatch(/policy\.ttl is 1, and must be a whole number of milliseconds from 10000/);
  expect(refused.output).toMatch(/s3Config\.bucketName must be a string/);
});

test("a job whose submit response was lost is not submitted again", async () => {
  emulator.faults.add({ match: { operation: "run" }, effect: { reset: true, when: "after" }, times: 1 });
  const stack = await createStack({ program: program({}), env: emulator.env });
  const failed = await stack.run(["up", "--yes", "--skip-preview"]);
  expect(failed.exitCode).not.toBe(0);
  expect(submits()).toBe(1);
});

test("workers that are not ready in time make up fail, and the endpoint stays in state", async () => {
  await using slow = await startEmulator({ profile: "contract", drainMs: 100, coldStartMs: 3_600_000 });
  const source = `
const { ServerlessEndpoint } = require("pulumi-serverless-gpu");
new ServerlessEndpoint("one", { gpuIds: "AMPERE_24", templateId: "template", workersMin: 2, awaitReady: true, awaitReadyTimeout: 1 });
`;
  const stack = await createStack({ program: source, env: slow.env });
  const failed = await stack.run(["up", "--yes", "--skip-preview"]);
  expect(failed.exitCode).not.toBe(0);
  expect(failed.output).toMatch(/has 0 of 2 workers ready after 1 s\. It exists and stays in state/);
  const again = await stack.run(["up", "--yes", "--skip-preview"]);
  expect(again.exitCode).not.toBe(0);
  expect(slow.endpoints.list()).toHaveLength(1);
  await stack.refresh();
  await stack.destroy();
  expect(slow.endpoints.list()).toEqual([]);
});
