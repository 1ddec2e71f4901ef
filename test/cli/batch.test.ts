import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type Emulator, startEmulator } from "../../emulator";
import { COMPILE_CACHE } from "../support/compiledCode";
import { needsPostgres, startPostgres } from "../support/postgres";
import { startStallingLine } from "../support/stallingLine";
import { ended, MAIN } from "./command";

let folder: string;
let emulator: Emulator;
let runs: Map<unknown, number>;
let jobIds: string[];
let jobMs = 0;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "batch-"));
  runs = new Map();
  jobIds = [];
  jobMs = 0;
  emulator = await startEmulator({
    profile: "contract",
    coldStartMs: 0,
    handlers: {
      llama: async ({ id, input }, { sleep }) => {
        jobIds.push(id);
        runs.set(input.n, (runs.get(input.n) ?? 0) + 1);
        await sleep(jobMs);
        if (input.fails) throw new Error("no such prompt");
        return { answer: input.n };
      },
    },
  });
  emulator.endpoints.create({ name: "llama", gpuIds: "ADA_24", templateId: "t", workersMin: 5, workersMax: 5 });
  await inputs(Array.from({ length: 60 }, (_, n) => ({ n })));
});

afterEach(async () => {
  await emulator.stop();
  await rm(folder, { recursive: true, force: true });
});

const inputs = (values: readonly unknown[]) =>
  writeFile(path.join(folder, "in.jsonl"), values.map((value) => `${JSON.stringify(value)}\n`).join(""));

function start(...more: string[]) {
  const args = [MAIN, "batch", "llama", "--input", "in.jsonl", "--output", "out.jsonl", ...more];
  const env = { ...process.env, ...COMPILE_CACHE, ...emulator.env };
  return spawn(process.execPath, args, { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
}

const run = (...more: string[]) => ended(start(...more));

interface Line {
  readonly key: string;
  readonly index: number;
  readonly output?: { readonly answer: number };
  readonly error?: { readonly message: string };
}

const lines = async (file = "out.jsonl") => {
  const text = await readFile(path.join(folder, file), "utf8").catch(() => "");
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line);
};

const whole = async () => {
  const all = await lines();
  expect(all.map(({ output }) => output?.answer).sort((a = 0, b = 0) => a - b)).toEqual(
    Array.from({ length: 60 }, (_, n) => n),
  );
  expect([...runs.values()].filter((count) => count > 1)).toEqual([]);
};

const byIndex = (a: Line, b: Line) => a.index - b.index;

const untilLines = async (count: number) => {
  while ((await lines()).length < count) await pause(20);
};

test("batch writes one line per input, and does nothing on the second run", async () => {
  const { code, stdout, stderr } = await run();
  expect([code, stdout]).toEqual([0, ""]);
  expect(stderr).toMatch(/^60 of 60 done, 0 failed, \S+ jobs\/s$/m);
  await whole();
  const before = emulator.journal.requests().length;
  expect((await run()).code).toBe(0);
  expect(
    emulator.journal
      .requests()
      .slice(before)
      .map(({ operation }) => operation),
  ).not.toContain("run");
});

test("batch resumes after every kill -9, and runs each job once", async () => {
  jobMs = 100;
  for (const count of [5, 20, 40]) {
    const child = start("--concurrency", "8");
    await untilLines(count);
    child.kill("SIGKILL");
    await ended(child);
  }
  const { code, stderr } = await run();
  const uncertain = Number(/(\d+) inputs have no result/.exec(stderr)?.[1] ?? 0);
  expect(code).toBe(uncertain > 0 ? 3 : 0);
  if (uncertain === 0) await whole();
  expect([...runs.values()].filter((count) => count > 1)).toEqual([]);
  expect(new Set((await lines()).map(({ key }) => key)).size).toBe(60 - uncertain);
});

test("the messages of a resumed run name lines of the input file, and the flag that submits an input again", async () => {
  await run();
  const before = await lines();
  expect(before.map(({ index, output }) => index === output?.answer)).not.toContain(false);
  emulator.faults.add({ match: { operation: "run" }, effect: { reset: true, when: "after" }, times: 1 });
  const earlier = Array.from({ length: 60 }, (_, n) => JSON.stringify({ n }));
  await writeFile(path.join(folder, "in.jsonl"), [...earlier, "", '{"n":61}', '{"n":62}', ""].join("\n"));
  const { code, stderr } = await run("--concurrency", "1");
  expect([code, stderr]).toEqual([3, expect.stringMatching(/^in\.jsonl, line 62: .*--uncertain submit/m)]);
  expect(stderr).not.toContain("idempotent");
  const again = await run();
  expect(again.stderr).toMatch(/^in\.jsonl, line 62: .*run the command with --uncertain submit$/m);
  expect((await run("--uncertain", "submit")).code).toBe(0);
  const after = await lines();
  expect(after.slice(0, 60)).toEqual(before);
  expect(after.slice(60).map(({ index, output }) => [index, output?.answer])).toEqual([
    [62, 62],
    [61, 61],
  ]);
});

test("drains at the first Ctrl-C and explains how to continue", async () => {
  jobMs = 300;
  const child = start("--concurrency", "5");
  await untilLines(5);
  child.kill("SIGINT");
  const { code, stderr } = await ended(child);
  expect(code).toBe(4);
  expect(stderr).toMatch(/Waiting for the running jobs[\s\S]*Interrupted\. Run the same command again/);
  expect((await lines()).length).toBe(runs.size);
  expect((await run()).code).toBe(0);
  await whole();
});

test("after a Ctrl-C while the service refuses submits, submits nothing more and ends", async () => {
  const rule = emulator.faults.add({ match: { operation: "run" }, effect: { status: 429 } });
  const child = start();
  const end = ended(child);
  while (!emulator.journal.requests().some(({ operation }) => operation === "run")) await pause(20);
  child.kill("SIGINT");
  await pause(1_000);
  emulator.faults.remove(rule.id);
  const { code, stderr } = await end;
  expect([code, stderr]).toEqual([4, expect.stringMatching(/^Interrupted\. Run the same command again/m)]);
  expect(runs.size).toBe(0);
});

test("detaches at the second Ctrl-C, and the next run collects the results", async () => {
  jobMs = 2_000;
  const child = start("--concurrency", "5");
  while (runs.size < 5) await pause(20);
  child.kill("SIGINT");
  await pause(200);
  child.kill("SIGINT");
  const { code, stderr } = await ended(child);
  expect(code).toBe(4);
  expect(stderr).toMatch(/5 jobs continue at the service/);
  jobMs = 0;
  expect((await run()).code).toBe(0);
  await whole();
});

test("exits with a distinct code if inputs failed, names these inputs and writes the reasons", async () => {
  await inputs([{ n: 1 }, { n: 2, fails: true }]);
  expect((await run()).code).toBe(3);
  const failed = (await lines()).find(({ error }) => error);
  expect([failed?.index, failed?.error?.message]).toEqual([1, expect.stringContaining("no such prompt")]);
});

test("exits with the code of the whole input in every run, and runs failed jobs again only on request", async () => {
  await inputs([{ n: 1 }, { n: 2, fails: true }]);
  for (let time = 0; time < 2; time++) {
    const { code, stderr } = await run();
    expect([code, stderr]).toEqual([3, expect.stringMatching(/^1 of 2 done, 1 failed, /m)]);
  }
  const accepted = await run("--failed", "accept");
  expect([accepted.code, accepted.stderr]).toEqual([0, expect.stringMatching(/^1 of 2 done, 1 failed, /m)]);
  // Without the output, the journal still knows.
  await rm(path.join(folder, "out.jsonl"));
  expect((await run()).code).toBe(3);
  expect([runs.get(1), runs.get(2)]).toEqual([1, 1]);
  const again = await run("--failed", "submit");
  expect([again.code, again.stderr]).toEqual([3, expect.stringMatching(/^1 of 2 done, 1 failed, /m)]);
  expect([runs.get(1), runs.get(2)]).toEqual([1, 2]);
  expect((await lines()).map(({ index, error }) => [index, error !== undefined]).sort()).toEqual([
    [0, false],
    [1, true],
  ]);
});

test("batch keeps the results of failed jobs if it may not run, and refuses one file for two things", async () => {
  await inputs([{ n: 1 }, { n: 2, fails: true }]);
  await run();
  const before = await lines();
  expect((await run("--failed", "submit", "--name", "other")).code).toBe(1);
  expect(await lines()).toEqual(before);
  const same = await run("--output", "in.jsonl");
  expect([same.code, same.stderr]).toEqual([1, expect.stringMatching(/--input and --output are the same file/)]);
  const journal = await run("--journal", "out.jsonl");
  expect([journal.code, journal.stderr]).toEqual([
    1,
    expect.stringMatching(/--output and --journal are the same file/),
  ]);
  expect(await lines()).toEqual(before);
});

test("batch writes an output that was deleted again, from the service or the journal", async () => {
  const stored = ["--journal", "stored.journal", "--store", "results"];
  expect((await run()).code).toBe(0);
  const before = await lines();
  await rm(path.join(folder, "out.jsonl"));
  const { code, stderr } = await run();
  expect([code, stderr]).toEqual([0, expect.stringMatching(/^60 of 60 done/m)]);
  await whole();
  expect((await lines()).sort(byIndex)).toEqual(before.sort(byIndex));
  await inputs([{ n: 100 }, { n: 101 }]);
  await run(...stored, "--output", "stored.jsonl");
  await rm(path.join(folder, "stored.jsonl"));
  // The service no longer knows the jobs.
  emulator.faults.add({ match: { operation: "status" }, effect: { status: 404 } });
  expect((await run(...stored, "--output", "stored.jsonl")).code).toBe(0);
  expect((await lines("stored.jsonl")).map(({ output }) => output?.answer).sort()).toEqual([100, 101]);
  expect([runs.get(100), runs.get(101)]).toEqual([1, 1]);
});

test("batch names the results that are gone, and does not exit with 0", async () => {
  await inputs([{ n: 1 }, { n: 2 }]);
  expect((await run()).code).toBe(0);
  await rm(path.join(folder, "out.jsonl"));
  emulator.faults.add({ match: { operation: "status" }, effect: { status: 404 } });
  const { code, stderr } = await run();
  expect([code, stderr]).toEqual([3, expect.stringMatching(/^0 of 2 done, 0 failed, 2 without a result/m)]);
  expect(stderr).toMatch(/in\.jsonl, line 1: the result of input .* is gone/);
  expect([...runs.values()]).toEqual([1, 1]);
});

test("batch refuses a changed input and a key that is not unique by their lines, and sends no rounded integers", async () => {
  const key = ["--key", "id"];
  await inputs([
    { id: 1, n: 1 },
    { id: 2, n: 2 },
    { id: 1, n: 3 },
    { id: 2, n: 2 },
  ]);
  const { code, stderr } = await run(...key);
  expect([code, stderr]).toEqual([3, expect.stringMatching(/in\.jsonl, line 3 \(line 1 has the same key\): /)]);
  expect((await lines()).map(({ index }) => index).sort()).toEqual([0, 1]);
  await inputs([
    { id: 1, n: 4 },
    { id: 2, n: 2 },
  ]);
  const changed = await run(...key);
  expect([changed.code, changed.stderr]).toEqual([3, expect.stringMatching(/line 1: .*key "1".*another --name/)]);
  await rm(path.join(folder, "out.jsonl"));
  const without = await run(...key);
  expect([without.code, without.stderr]).toEqual([
    3,
    expect.stringMatching(/line 1: .*"1" is the key of another input/),
  ]);
  expect([...runs.keys()].sort()).toEqual([1, 2]);
  await writeFile(path.join(folder, "in.jsonl"), '{"n":"9007199254740993"}\n{"n":9007199254740993}\n');
  const large = await run("--output", "large.jsonl");
  expect([large.code, large.stderr]).toEqual([1, expect.stringMatching(/line 2 contains 9007199254740993, .*string/)]);
});

test("batch settles uncertain inputs with jobs that were found, without running them again", async () => {
  await inputs([{ n: 1 }]);
  emulator.faults.add({ match: { operation: "run" }, effect: { reset: true, when: "after" }, times: 1 });
  const lost = await run();
  expect([lost.code, lost.stderr]).toEqual([3, expect.stringMatching(/--settle/)]);
  const key = /--settle, as \{"key": "(\w+)"/.exec((await run()).stderr)?.[1] ?? "";
  await writeFile(path.join(folder, "found.jsonl"), `${JSON.stringify({ key: "other", jobId: "j" })}\n`);
  const refused = await run("--settle", "found.jsonl");
  expect([refused.code, refused.stderr]).toEqual([
    1,
    expect.stringMatching(/found\.jsonl, key "other": the batch has no input/),
  ]);
  await writeFile(path.join(folder, "found.jsonl"), `${JSON.stringify({ key, jobId: jobIds[0] })}\n`);
  for (let time = 0; time < 2; time++) expect((await run("--settle", "found.jsonl")).code).toBe(0);
  expect([(await lines()).length, runs.get(1)]).toEqual([1, 1]);
});

test("batch refuses a journal that was emptied, and an output that is no file, before it submits anything", async () => {
  await inputs([{ n: 1 }]);
  await run();
  await inputs([{ n: 1 }, { n: 2 }]);
  await writeFile(path.join(folder, "out.jsonl.journal"), "");
  const emptied = await run();
  expect([emptied.code, emptied.stderr]).toEqual([1, expect.stringMatching(/journal is empty although/)]);
  const none = await run("--output", "/dev/null", "--journal", "none.journal");
  expect([none.code, none.stderr]).toEqual([1, expect.stringMatching(/\/dev\/null is not a file/)]);
  expect([...runs.keys()]).toEqual([1]);
});

test("batch names every input without a result", async () => {
  const { code, stderr } = await run("--key", "missing");
  expect([code, stderr.match(/^in\.jsonl, line \d+: /gm)?.length]).toEqual([3, 60]);
});

test("batch requires a name in a shared database, and forgets only batches in one", async () => {
  const url = "postgres://me:canary-password@127.0.0.1:1/x";
  const unnamed = await run("--journal", url);
  expect([unnamed.code, unnamed.stderr]).toEqual([2, expect.stringMatching(/'--name <name>' not specified/)]);
  expect((await run("--forget")).code).toBe(2);
});

test.each([
  ['{"n":1}\n{"n":', /in\.jsonl, line 2 is not JSON/],
  ['"text"\n', /line 1 is not a JSON object/],
])("batch reports the invalid line: %j", async (text, message) => {
  await writeFile(path.join(folder, "in.jsonl"), text);
  const { code, stderr } = await run();
  expect(code).toBe(1);
  expect(stderr).toMatch(message);
});

test("batch refuses a second process, another batch and a file without results, and changes nothing", async () => {
  jobMs = 5_000;
  const first = start();
  while (runs.size < 5) await pause(20);
  const second = await run();
  expect([second.code, second.stderr]).toEqual([1, expect.stringMatching(/in use by process/)]);
  first.kill("SIGKILL");
  await ended(first);
  const other = await run("--name", "other");
  expect([other.code, other.stderr]).toEqual([1, expect.stringMatching(/batch "in\.jsonl".*batch "other"/)]);
  await writeFile(path.join(folder, "letter.txt"), "a letter\n");
  const letter = await run("--output", "letter.txt");
  expect([letter.code, letter.stderr]).toEqual([1, expect.stringMatching(/not a result/)]);
  expect(await readFile(path.join(folder, "letter.txt"), "utf8")).toBe("a letter\n");
});

test("batch prints the SQL that creates the journal, and reports missing arguments", async () => {
  const start = (...args: string[]) => ended(spawn(process.execPath, [MAIN, "batch", ...args]));
  expect((await start("--print-sql")).stdout).toContain("CREATE TABLE IF NOT EXISTS serverless_gpu.keys");
  expect([(await start("llama")).code, (await start()).code]).toEqual([2, 2]);
});

(needsPostgres === "" ? test : test.skip)(
  `${needsPostgres}two machines share a batch in PostgreSQL, and no output shows the password`,
  async () => {
    await using server = await startPostgres();
    const shared = ["--journal", server.url, "--name", "shared"];
    const both = await Promise.all([
      run(...shared, "--partial"),
      run(...shared, "--partial", "--output", "other.jsonl"),
    ]);
    expect(both.map(({ code }) => code)).toEqual([0, 0]);
    const all = [...(await lines()), ...(await lines("other.jsonl"))];
    expect([all.length, new Set(all.map(({ output }) => output?.answer)).size]).toEqual([60, 60]);
    // Another machine gets a whole output.
    const third = await run(...shared, "--output", "third.jsonl");
    expect([third.code, (await lines("third.jsonl")).length]).toEqual([0, 60]);
    expect([...runs.values()].filter((count) => count > 1)).toEqual([]);
    const forgotten = await ended(spawn(process.execPath, [MAIN, "batch", ...shared, "--forget"]));
    expect([forgotten.code, forgotten.stderr]).toEqual([0, ""]);
    await server.stop();
    const { code, stderr } = await run(...shared);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/ECONNREFUSED/)]);
    expect(JSON.stringify([both, stderr])).not.toContain("canary-password");
  },
);

(needsPostgres === "" ? test : test.skip)(
  `${needsPostgres}ends with the ids that it could not record when PostgreSQL stalls, also after Ctrl-C`,
  async () => {
    await using server = await startPostgres();
    await using line = await startStallingLine(Number(new URL(server.url).port));
    const url = new URL(server.url);
    url.port = String(line.port);
    jobMs = 300;
    const child = start("--journal", url.href, "--name", "stalled", "--concurrency", "5");
    await untilLines(5);
    line.stall();
    await pause(2_000);
    child.kill("SIGINT");
    await pause(1_000);
    child.kill("SIGINT");
    const since = performance.now();
    const { code, stderr } = await ended(child);
    expect(performance.now() - since).toBeLessThan(45_000);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/journal cannot be used/)]);
    expect(stderr).toMatch(/^\d+ of 60 done, /m);
    // Whatever was submitted and is not recorded was printed.
    const printed = [...stderr.matchAll(/^\{"key":"\w+","jobId":"[\w-]+"\}$/gm)].map(([text]) => text);
    await writeFile(path.join(folder, "found.jsonl"), printed.map((text) => `${text}\n`).join(""));
    line.resume();
    const rest = await run("--journal", url.href, "--name", "stalled", "--settle", "found.jsonl");
    // The response to a claim may have been lost, too. Nothing was submitted for it, but who knows?
    const uncertain = Number(/(\d+) inputs have no result/.exec(rest.stderr)?.[1] ?? 0);
    expect([rest.code, uncertain <= 5]).toEqual([uncertain > 0 ? 3 : 0, true]);
    expect((await lines()).length).toBe(60 - uncertain);
    expect([...runs.values()].filter((count) => count > 1)).toEqual([]);
    expect(runs.size).toBe(60 - uncertain);
  },
  120_000,
);
