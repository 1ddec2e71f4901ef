import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Emulator, startEmulator } from "../../emulator";
import { createStack, type PulumiStack } from "../pulumi/harness";
import { newMachine, programOf, runByImage, serving, startProvider, startService, TOKEN } from "../support/rollOuts";
import { at, crash, scenarios, unlock } from "./crash";
import { type StepFailed, up } from "./engineMemory";
import { once } from "./progress";

/* Needs FAULTS_API=v2: `FAULTS_API=v2 npm run test:faults -- rollOuts`. */

/** Git-ignored. */
const FOLDER = path.resolve(__dirname, "../../.scratch/faults");

/** The end of the error of a release that failed. */
const RESTORED = "The previous settings were saved again";

const printed: string[] = [];
const rows: unknown[][] = [];

function print(title: string, names: readonly string[], rows: readonly (readonly unknown[])[]): void {
  const table = [names, names.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`);
  printed.push(`\n${title}\n\n${table.join("\n")}\n`);
}

afterAll(() => {
  print(
    "Jobs lost by a release, ten jobs a second",
    [
      "release",
      "up",
      "seconds",
      "saves",
      "serves",
      "REST v2 requests",
      "jobs",
      "right",
      "wrong output",
      "failed",
      "open",
    ],
    rows,
  );
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(path.join(FOLDER, "rollOuts.md"), printed.join("\n"));
  process.stdout.write(`${printed.join("\n")}\n${path.join(FOLDER, "rollOuts.md")}\n`);
});

/** Ten jobs a second. */
const EVERY_MS = 100;

/** Sends jobs until it is stopped, and says what became of them. */
function load({ url, apiKey, endpoints }: Emulator) {
  const headers = { authorization: apiKey, "content-type": "application/json" };
  const queue = `${url}/v2/${endpoints.list()[0]?.id}`;
  const ids: string[] = [];
  let isOver = false;
  const sending = (async () => {
    while (!isOver) {
      const response = await fetch(`${queue}/run`, { method: "POST", headers, body: '{"input":{"prompt":"load"}}' });
      if (response.ok) ids.push(((await response.json()) as { id: string }).id);
      await sleep(EVERY_MS);
    }
  })();
  return async () => {
    isOver = true;
    await sending;
    await sleep(12_000);
    const ends = { sent: ids.length, right: 0, wrong: 0, failed: 0, open: 0 };
    for (const id of ids) {
      const job = (await (await fetch(`${queue}/status/${id}`, { headers })).json()) as Job;
      if (job.status !== "COMPLETED") ends[["IN_QUEUE", "IN_PROGRESS"].includes(job.status) ? "open" : "failed"] += 1;
      else ends[job.output?.text === "4" ? "right" : "wrong"] += 1;
    }
    return ends;
  };
}

interface Job {
  readonly status: string;
  readonly output?: { readonly text?: string };
}

const ROLL_OUT = { watch: { seconds: 20, maxFailed: 0.05, minJobs: 40 }, timeout: 15 };
const OTHERS = { workersMin: 2, workersMax: 3, executionTimeoutMs: 8_000 };

const SCENARIOS = [
  ["good", "me/llama-good", "me/llama-2-good", true, ROLL_OUT, "passes"],
  ["fails its test", "me/llama-good", "me/llama-wrong", true, ROLL_OUT, "output.text is not as expected"],
  ["fails 6 % of jobs", "me/llama-good", "me/llama-failing", true, ROLL_OUT, "more than 5 %"],
  ["its image cannot be pulled", "me/llama-good", "me/llama-unknown-good", true, ROLL_OUT, "did not end within 5 s"],
  [
    "its image cannot be pulled, without a test",
    "me/llama-good",
    "me/llama-unknown-good",
    ...([true, { ...ROLL_OUT, test: null }, "none of its workers was ready"] as const),
  ],
  ["hangs", "me/llama-good", "me/llama-hanging", true, ROLL_OUT, "did not end within 5 s"],
  ["good, no traffic", "me/llama-good", "me/llama-2-good", false, ROLL_OUT, "passes"],
  ["fails 6 %, the old one fails 10 %", "me/llama-old", "me/llama-3-failing", true, ROLL_OUT, "more than 5 %"],
  [
    "fails its test, kept",
    "me/llama-good",
    "me/llama-wrong",
    true,
    { ...ROLL_OUT, onFailure: "keep" },
    "is still in service",
  ],
] as const;

test.each(SCENARIOS)(
  "a release under load: %s",
  async (title, before, after, hasLoad, rollOut, expected) => {
    await using emulator = await startService({ coldStartMs: 200 });
    emulator.faults.add({ match: { imageName: "me/llama-unknown-good" }, effect: { imagePullError: true } });
    await using provider = await startProvider(emulator, newMachine());
    const program = (imageName: string) => ({ ...programOf("good", rollOut), ...OTHERS, imageName });
    const { rollOut: _, ...alone } = program(before);
    const first = await up(provider, alone, undefined);
    const stop = hasLoad ? load(emulator) : undefined;
    await sleep(hasLoad ? 3_000 : 0);
    emulator.journal.clear();
    const begun = performance.now();
    const error = await up(provider, program(after), first).then(
      () => undefined,
      (failure: StepFailed) => failure,
    );
    const seconds = Math.round((performance.now() - begun) / 1000);
    const { image, saves } = serving(emulator);
    const requests = emulator.journal.requests({ interface: "v2" }).length;
    const jobs = (await stop?.()) ?? { sent: 0, right: 0, wrong: 0, failed: 0, open: 0 };
    rows.push([
      title,
      error ? "fails" : "passes",
      seconds,
      saves,
      image,
      requests,
      jobs.sent,
      jobs.right,
      jobs.wrong,
      jobs.failed,
      jobs.open,
    ]);
    expect(error?.message ?? "passes").toContain(expected);
    if (!hasLoad) expect(provider.output()).toContain("not enough traffic to judge");
    expect(image).toBe(error && !title.endsWith("kept") ? before : after);
    if (error && !title.endsWith("kept")) expect(error.remembered).toBe(first);
  },
  180_000,
);

test("a pipeline that runs up ten times, on a new machine each time, tests a bad release each time and restores what served before", async () => {
  await using emulator = await startService();
  const first = await (async () => {
    await using provider = await startProvider(emulator, newMachine());
    return await up(provider, programOf("good"), undefined);
  })();
  emulator.journal.clear();
  const times: number[] = [];
  for (let run = 0; run < 10; run++) {
    await using provider = await startProvider(emulator, newMachine());
    const begun = performance.now();
    await expect(up(provider, programOf("wrong"), first)).rejects.toThrow(RESTORED);
    times.push(Math.round((performance.now() - begun) / 100) / 10);
  }
  const { image, saves } = serving(emulator);
  const jobs = emulator.journal.requests({ operation: "run" }).length;
  const requests = emulator.journal.requests({ interface: "v2" }).length;
  print(
    "Ten runs of up with a bad release",
    ["saves", "test jobs", "REST v2 requests", "slowest run (s)", "serves"],
    [[saves, jobs, requests, Math.max(...times), image]],
  );
  expect([image, saves, jobs]).toEqual(["me/llama-good", 20, 10]);
}, 300_000);

test("ten rollouts at once with the published quotas: each ends", async () => {
  const rateLimits = { graphql: "real", management: "real" } as const;
  await using emulator = await startEmulator({
    profile: "observed",
    drainMs: 0,
    coldStartMs: 200,
    rateLimits,
    handlers: { default: runByImage },
  });
  await using provider = await startProvider(emulator, newMachine());
  const program = (index: number, kind: string) => ({
    ...programOf(kind, { timeout: 300 }),
    automaticName: `llama-${index}`,
  });
  const all = Array.from({ length: 10 }, (_, index) => index);
  const made = await Promise.all(all.map((index) => up(provider, program(index, "good"), undefined)));
  emulator.journal.clear();
  const begun = performance.now();
  const kinds = all.map((index) => (index % 2 === 0 ? "2-good" : "wrong"));
  const ends = await Promise.allSettled(
    all.map((index) => up(provider, program(index, kinds[index] ?? ""), made[index])),
  );
  const requests = emulator.journal.requests({ interface: "v2" });
  const within = (from: number) => requests.filter((each) => each.at >= from && each.at < from + 60_000).length;
  print(
    "Ten rollouts at once, five of them bad, published quotas",
    ["passed", "refused", "REST v2 requests", "429", "most in a minute", "queue requests", "seconds"],
    [
      [
        ends.filter(({ status }) => status === "fulfilled").length,
        ends.filter((each) => each.status === "rejected" && String(each.reason).includes(RESTORED)).length,
        requests.length,
        emulator.journal.requests().filter(({ status }) => status === 429).length,
        Math.max(0, ...requests.map((each) => within(each.at))),
        emulator.journal.requests({ interface: "queue" }).length,
        Math.round((performance.now() - begun) / 1000),
      ],
    ],
  );
  expect(ends.map(({ status }) => status)).toEqual(kinds.map((kind) => (kind === "wrong" ? "rejected" : "fulfilled")));
}, 1_200_000);

const stackProgram = (kind: string) => {
  const { automaticName, ...args } = programOf(kind);
  return `
const { ServerlessEndpoint } = require("pulumi-serverless-gpu");
new ServerlessEndpoint("${automaticName}", ${JSON.stringify(args)});
`;
};

/** State, without what the engine encrypts anew each time. */
async function stateOf(stack: PulumiStack): Promise<string> {
  const { resources } = (await stack.exportState()).deployment;
  return JSON.stringify(resources).replace(/"(ciphertext|modified)":"[^"]*"/g, "");
}

const MOMENTS = [...at("updateEndpoint", 1), ...at("listWorkers", 1), ...at("updateEndpoint", 2)];

describe("kill", () => {
  test.each(scenarios(MOMENTS))(
    "%s",
    once("rollOuts", "kill", async (_title, moment, victim) => {
      await using emulator = await startService();
      const env = {
        ...emulator.env,
        SERVERLESS_GPU_SERVICE: "runpod",
        SERVERLESS_GPU_API: "v2",
        XDG_CACHE_HOME: newMachine(),
      };
      const stack = await createStack({ program: stackProgram("good"), env });
      await stack.up();
      const state = await stateOf(stack);
      await stack.writeProgram(stackProgram("wrong"));
      await crash(stack, emulator, moment, victim, "up");
      await unlock(stack);
      const next = await stack.run(["up", "--yes", "--skip-preview"]);
      expect(next.exitCode).not.toBe(0);
      expect(next.output).toContain(RESTORED);
      expect(serving(emulator)).toMatchObject({ image: "me/llama-good", env: { VERSION: "good" } });
      expect(next.output).not.toContain(TOKEN);
      expect(await stateOf(stack)).toBe(state);
      await stack.writeProgram(stackProgram("good"));
      await stack.up();
      await stack.preview("--refresh", "--expect-no-changes");
      expect(serving(emulator)).toMatchObject({ image: "me/llama-good" });
    }),
    300_000,
  );
});
