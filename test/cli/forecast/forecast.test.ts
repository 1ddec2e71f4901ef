import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { COMPILE_CACHE } from "../../support/compiledCode";
import { MAIN } from "../command";

jest.setTimeout(120_000);

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), "forecast-test-"));
  writeFileSync(path.join(folder, "jobs.csv"), `arrival_s,duration_s\n${rows()}`);
  writeFileSync(
    path.join(folder, "prices.json"),
    JSON.stringify({ date: "2026-01-01", perSecond: { AMPERE_24: 1, "cpu3g-4-16": 0.5 } }),
  );
});
afterAll(() => rmSync(folder, { recursive: true }));

const rows = () => Array.from({ length: 120 }, (_, index) => `${index * 30},2`).join("\n");

function forecast(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const env = { ...process.env, ...COMPILE_CACHE };
    execFile(process.execPath, [MAIN, "forecast", ...args], { cwd: folder, env }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === "number" ? error.code : 0, stdout, stderr });
    });
  });
}

interface Range {
  readonly low: number;
  readonly middle: number;
  readonly high: number;
}

interface Result {
  readonly settings: Record<string, unknown>;
  readonly jobs: Range;
  readonly delayS: Record<string, Range>;
  readonly coldStarts: Range;
  readonly monthly: Range;
  readonly monthlyParts: Record<string, Range>;
}

interface Output {
  readonly results: readonly (Result & { title: string })[];
  readonly sweep: readonly (Result & { front: boolean })[];
  readonly exceeded: readonly string[];
}

const EXACT = ["--load", "jobs.csv", "--for", "1h", "--seeds", "2", "--prices", "prices.json"];

test("a warm worker costs its running time, and jobs do not wait", async () => {
  const { code, stdout, stderr } = await forecast(...EXACT, "--set", "workersMin=1", "--json");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const [result] = (JSON.parse(stdout) as Output).results;
  expect(result?.delayS.p99).toEqual({ low: 0, middle: 0, high: 0 });
  expect(result?.coldStarts.high).toBe(0);
  // One worker at $1 a second: a month of 2,629,800 s. 120 jobs of 2 s are 240 of 3600 s.
  expect(result?.monthly.middle).toBeCloseTo(2_629_800, 0);
  expect(result?.monthlyParts.run?.middle).toBeCloseTo((2_629_800 * 240) / 3600, 0);
  const discounted = await forecast(...EXACT, "--set", "workersMin=1", "--active-discount", "0.25", "--json");
  expect((JSON.parse(discounted.stdout) as Output).results[0]?.monthly.high).toBeCloseTo(2_629_800 * 0.75, 0);
});

test("the output shows ranges, how certain each assumption is, and what cannot be known", async () => {
  const flags = [...EXACT, "--set", "scalerType=REQUEST_COUNT", "flashBoot=on", "--ttl", "2h"];
  const { stdout } = await forecast(...flags, "--details");
  expect(stdout).toMatch(/^Load: 120 jobs in 60 min, jobs\.csv \(arrivals and durations\)/);
  for (const name of ["p50", "p70", "p90", "p95", "p98", "p99"]) expect(stdout).toContain(`\ndelay ${name} `);
  const foot = stdout.slice(stdout.indexOf("Assumptions"));
  const levels = foot.split("\n").flatMap((line) => /^ {2}(\w+) +\S/.exec(line)?.[1] ?? []);
  expect(new Set(levels)).toEqual(new Set(["documented", "observed", "assumed", "given"]));
  expect(foot).toContain("given       a job is lost 2 h after it was submitted [--ttl]");
  expect(foot).toContain("prices.json of 2026-01-01");
  expect(foot).toContain("cannot know when the service has no free machine");
});

test("without --details, the table shows p50, p95, jobs without a result, and the cost", async () => {
  const { stdout } = await forecast(...EXACT, "--seeds", "2");
  const [, table = ""] = stdout.split("\n\n");
  const names = table.split("\n").map((line) => line.split(/ {2,}|:/)[0]);
  expect(names).toEqual(["Settings", "2 runs", "delay p50", "delay p95", "jobs lost or timed out", "cost a month"]);
});

test("the exit code is determined by comparing the limits with the high end of each range", async () => {
  const exceeded = await forecast(...EXACT, "--cold-start", "20s", "--max-p95", "1s", "--max-cost", "1/day");
  expect(exceeded.code).toBe(3);
  expect(exceeded.stdout).toMatch(/LIMIT EXCEEDED: the p95 delay can be 2\d(\.\d)? s, more than 1 s/);
  expect(exceeded.stdout).toMatch(/LIMIT EXCEEDED: it can cost \$[\d,.]+ a month, more than \$30\.44/);
  const kept = await forecast(...EXACT, "--set", "workersMin=1", "--max-p95", "1s", "--max-cost", "3000000/month");
  expect(kept.code).toBe(0);
});

const ALL_LOST = ["--ttl", "1s", "--cold-start", "60s"];
const ALL_TIMED_OUT = ["--execution-timeout", "1s", "--set", "workersMin=1"];

test.each([
  ["lost", ALL_LOST, "120 jobs (100 %) can be lost or time out, more than 0 (--max-lost)"],
  ["timed out", ALL_TIMED_OUT, "120 jobs (100 %) can be lost or time out, more than 0 (--max-lost)"],
])("a delay limit is exceeded if every job is %s, and every output format contains the warning", async (what, args, problem) => {
  const { code, stdout } = await forecast(...EXACT, ...args, "--max-p95", "1h", "--pictures", what);
  expect({ code, problem: stdout.includes(`LIMIT EXCEEDED: ${problem}`) }).toEqual({ code: 3, problem: true });
  const warning = "of all jobs have no result. The delays are those of the jobs that started.";
  expect(stdout).toContain(`up to 100 % ${warning}`);
  const picture = (name: string) => readFileSync(path.join(folder, what, name), "utf8");
  expect(picture("forecast.html")).toContain(warning);
  for (const text of [picture("forecast.html"), picture("forecast.svg").replaceAll(/<.*?>\s*/g, " ")])
    expect(text).toContain(`Limit exceeded: ${problem}`);
});

test("delays are not shown as 0 if no job started", async () => {
  const { stdout } = await forecast(
    "--generate",
    "constant:1/m",
    "--duration",
    "1s",
    "--for",
    "10m",
    "--ttl",
    "1s",
    "--cold-start",
    "10m",
    "--seeds",
    "2",
  );
  expect(stdout).toMatch(/^delay p95 +no job started$/m);
});

test("a number or a share of lost jobs can be allowed, and the exit code is 0 if no limit is set", async () => {
  const codes = [["--max-lost", "100%"], ["--max-lost", "120"], ["--max-lost", "119"], ["--max-lost", "99%"], []];
  const ended = await Promise.all(codes.map((limit) => forecast(...EXACT, ...ALL_LOST, ...limit)));
  expect(ended.map(({ code }) => code)).toEqual([0, 0, 3, 3, 0]);
});

test.each([
  [["--cold-start", "20s", "--max-p95", "2s", "--sweep", "workersMin=0..1", "idleTimeout=1,60"]],
  [["--cold-start", "20s", "--sweep", "workersMin=0..1", "idleTimeout=1,60"]],
  [[...ALL_LOST, "--max-p95", "2s", "--sweep", "workersMin=0..4"]],
  [["--cold-start", "20s", "--sweep", "workersMax=1..3", "scalerType=QUEUE_DELAY,REQUEST_COUNT"]],
  [["--cold-start", "20s", "--max-p95", "1ms", "--sweep", "idleTimeout=1,5,60"]],
  [["--max-p95", "1h", "--sweep", "scalerValue=1,4", "workersMin=0,1"]],
  [["--max-lost", "50%", "--sweep", "flashBoot=on,off"]],
  [[...ALL_TIMED_OUT, "--sweep", "workersMin=0..1", "idleTimeout=1,60"]],
  [[...ALL_TIMED_OUT, "--max-p95", "1h", "--max-lost", "120", "--sweep", "workersMin=0..1"]],
  [["--ttl", "10s", "--cold-start", "20s", "--max-p95", "30s", "--max-lost", "0", "--sweep", "idleTimeout=1,30,60"]],
])("the page repeats the advice from the terminal: %j", async (args) => {
  const { stdout, stderr } = await forecast(...EXACT, ...args, "--pictures", "advice");
  expect(stderr).toContain("wrote advice/forecast.svg and advice/forecast.html");
  const advice = stdout.slice(stdout.indexOf("Sweep of"), stdout.indexOf("Assumptions, with")).trim();
  const page = readFileSync(path.join(folder, "advice/forecast.html"), "utf8");
  expect(page.replaceAll("&gt;", ">").replaceAll("&lt;", "<").replaceAll("&quot;", '"')).toContain(advice);
  const picture = readFileSync(path.join(folder, "advice/forecast.svg"), "utf8").replaceAll(/<.*?>\s*/g, " ");
  const setting = /\n {4}(.*),\n/.exec(advice)?.[1] ?? advice.split("\n").at(-1) ?? "";
  expect(picture.replaceAll("&quot;", '"').replaceAll(/\s+/g, " ")).toContain(setting.slice(0, 60));
  expect(page.includes("left out: workersMin")).toBe(stdout.includes("left out: workersMin"));
});

test("a sweep names the best settings and the change, and writes self-contained pictures", async () => {
  const sweep = ["--sweep", "workersMin=0..1", "idleTimeout=1,60", "--pictures", "pictures"];
  const { code, stdout, stderr } = await forecast(...EXACT, "--cold-start", "20s", "--max-p95", "2s", ...sweep);
  // The current setting has long delays.
  expect(code).toBe(3);
  expect(stderr).toContain("wrote pictures/forecast.svg and pictures/forecast.html");
  expect(stdout).toContain("Sweep of 4 settings, 2 runs each");
  expect(stdout).toMatch(/Put this into the program:\n\n {4}(workersMin: 1|idleTimeout: 60)/);
  const page = readFileSync(path.join(folder, "pictures/forecast.html"), "utf8");
  expect(page).toContain("prefers-color-scheme: dark");
  expect(page.match(/(src|href)=|https?:(?!\/\/www\.w3\.org\/2000\/svg)|NaN|Infinity/g)).toBeNull();
  const svg = readFileSync(path.join(folder, "pictures/forecast.svg"), "utf8");
  expect(svg).toMatch(/^<svg class="fc wide" xmlns="http:\/\/www\.w3\.org\/2000\/svg"/);
  expect(svg.match(/NaN|Infinity|undefined/g)).toBeNull();
});

test.each([
  ["each GPU costs", ["gpuCount=2"], [], 2, "AMPERE_24 in prices.json of 2026-01-01, 2 GPUs each"],
  ["a price is that of one GPU", ["gpuCount=3"], ["--prices", "0.5"], 1.5, "--prices, 3 GPUs each"],
  ["a CPU worker has its own price", ["instanceIds=cpu3g-4-16", "gpuCount=2"], [], 0.5, "cpu3g-4-16 in prices.json"],
  ["a price is that of a CPU worker", ["instanceIds=cpu5c-2-4"], ["--prices", "0.25"], 0.25, "a second: --prices"],
])("%s", async (_, settings, more, perSecond, source) => {
  const { stdout } = await forecast(...EXACT, ...more, "--set", "workersMin=1", ...settings, "--json");
  const { results, assumptions } = JSON.parse(stdout) as Output & { assumptions: readonly { text: string }[] };
  expect(results[0]?.monthly.middle).toBeCloseTo(perSecond * 2_629_800, 0);
  expect(assumptions.map(({ text }) => text).join("\n")).toContain(source);
});

test("no point on the front is beaten in both cost and delay", async () => {
  const { stdout } = await forecast(
    ...EXACT,
    "--sweep",
    "workersMin=0..2",
    "scalerType=QUEUE_DELAY,REQUEST_COUNT",
    "--json",
  );
  const { sweep } = JSON.parse(stdout) as Output;
  expect(sweep).toHaveLength(6);
  expect(sweep.some(({ front }) => front)).toBe(true);
  const isBeaten = ({ monthly, delayS }: Result) =>
    sweep.some((other) => other.monthly.high < monthly.low && (other.delayS.p95?.high ?? 0) < (delayS.p95?.low ?? 0));
  expect(sweep.filter((each) => each.front && isBeaten(each))).toEqual([]);
});

test.each([
  ["a rate", ["--generate", "poisson:2/m"]],
  ["a sine with bursts", ["--generate", "sine:0..60/h", "--bursts", "20@1h"]],
  ["a step", ["--generate", "step:1/m,10/m"]],
  ["a constant", ["--generate", "constant:1/m"]],
])("forecast generates a load from %s", async (_name, args) => {
  const { stdout } = await forecast(...args, "--duration", "1s..3s", "--for", "1d", "--seeds", "2", "--json");
  const jobs = (JSON.parse(stdout) as Output).results[0]?.jobs.middle;
  const expected =
    { poisson: 2880, sine: 720 + 480, step: 7920, constant: 1440 }[args[1]?.split(":")[0] as string] ?? 0;
  expect(jobs).toBeGreaterThan(expected * 0.8);
  expect(jobs).toBeLessThan(expected * 1.2);
});

test.each<[string[], number, string]>([
  [[], 2, "give one load: --load or --generate"],
  [["--load", "jobs.csv", "--generate", "poisson:1/s"], 2, "give one load"],
  [["--generate", "poisson:1/s"], 2, "--generate needs --duration"],
  [["--generate", "poisson:fast"], 2, "is not a rate"],
  [["--generate", "linear:1/s"], 2, "The rules are poisson, constant, sine, step"],
  [["--load", "jobs.csv", "--set", "workerMin=1"], 2, "Did you mean workersMin?"],
  [["--load", "jobs.csv", "--cold-start", "none.txt"], 1, "none.txt cannot be read"],
  [["--load", "jobs.csv", "--max-lost", "some"], 2, "is not a whole number"],
  [["--load", "jobs.csv", "--for", "1 week"], 2, "is not a time"],
  [["--load", "jobs.csv", "--sweep", "workerMin=1"], 2, "Did you mean workersMin?"],
  [["--load", "jobs.csv", "--set", "workersMin=4"], 1, "workersMin (4) is above workersMax (3)"],
  [["--load", "jobs.csv", "--set", "workersMax=0"], 1, "no job would ever run"],
  [["--load", "jobs.csv", "--set", "gpuIds=AMPERE_25"], 1, "Did you mean AMPERE_24?"],
  [["--load", "jobs.csv", "--set", "instanceIds=cpu3g-4-16"], 1, "no price is known for CPU workers (cpu3g-4-16)"],
  [["--load", "jobs.csv", "--set", "gpuCount=0"], 2, "gpuCount"],
  [["--load", "jobs.csv", "--prices", "jobs.csv"], 1, "--prices jobs.csv is not valid JSON"],
  [["--load", "none.csv"], 1, "none.csv cannot be read"],
  [["--load", "."], 1, "has no recording"],
  [["--load", "jobs.csv", "--sweep", "workersMin=5..9"], 1, "no setting that the service accepts"],
])("%j fails with code %i", async (args, code, message) => {
  const ended = await forecast(...args);
  expect(ended.stderr).toContain(message);
  expect({ code: ended.code, stdout: ended.stdout }).toEqual({ code, stdout: "" });
});

test("a load of a few seconds causes a warning, because every repetition pays for its own cold starts", async () => {
  const short = ["--generate", "constant:1/s", "--duration", "1s", "--seeds", "1"];
  expect((await forecast(...short, "--for", "10s")).stdout).toContain("WARNING: The load covers only 10 s");
  expect((await forecast(...short, "--for", "10m")).stdout).not.toContain("WARNING");
});
