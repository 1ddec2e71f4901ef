import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { type Emulator, type EmulatorOptions, type FaultRule, startEmulator } from "../../emulator";
import { COMPILE_CACHE } from "../support/compiledCode";

const MAIN = path.resolve(__dirname, "../../build/tools/verifyService/main.js");
const KEY = "canary-key-of-the-account";
/** An endpoint of the account that the command must neither touch nor show. */
const OTHER = { id: "theirs1234", name: "someone-elses", gpuIds: "ADA_24", templateId: "t", workersMax: 2 };

interface Row {
  readonly row: string;
  readonly result: string;
  readonly reason?: string;
  readonly expected?: string;
  readonly actual?: string;
}

let folder: string;
const open: Emulator[] = [];
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), "verify-service-"));
});
afterAll(async () => {
  await Promise.all(open.map((emulator) => emulator.stop()));
  rmSync(folder, { recursive: true });
});

async function startService(options: EmulatorOptions = {}, faults: readonly FaultRule[] = []): Promise<Emulator> {
  const emulator = await startEmulator({ profile: "contract", apiKey: KEY, seed: { endpoints: [OTHER] }, ...options });
  emulator.templates.create({ id: "template-1", name: "mine", imageName: "app:1", isServerless: true });
  for (const fault of faults) emulator.faults.add(fault);
  open.push(emulator);
  return emulator;
}

let files = 0;

/** Starts the command, and collects its results when it has ended. */
function start(emulator: Emulator, args: readonly string[] = ["--yes"], env: NodeJS.ProcessEnv = emulator.env) {
  files += 1;
  const file = path.join(folder, `${files}.json`);
  const all = ["--template", "template-1", "--output", file, ...args];
  const child = spawn(process.execPath, [MAIN, ...all], {
    env: { ...process.env, ...COMPILE_CACHE, ...env },
    stdio: "pipe",
  });
  const printed = { stdout: "", stderr: "" };
  child.stdout.on("data", (chunk) => (printed.stdout += chunk));
  child.stderr.on("data", (chunk) => (printed.stderr += chunk));
  child.stdin.end();
  async function end() {
    const [code] = child.exitCode === null ? await once(child, "close") : [child.exitCode];
    const text = existsSync(file) ? readFileSync(file, "utf8") : undefined;
    const transcript = text === undefined ? undefined : JSON.parse(text);
    const rows: Row[] = transcript?.rows ?? [];
    const rowsThat = (result: string) => rows.filter((each) => each.result === result).map(({ row }) => row);
    return { code, ...printed, text, transcript, rows, rowsThat, emulator };
  }
  return { child, printed, file, ended: end() };
}

type Ended = Awaited<ReturnType<typeof start>["ended"]>;

async function printedLine(child: ChildProcess, printed: { stderr: string }, line: string): Promise<void> {
  while (!printed.stderr.includes(line)) await once(child.stderr as NodeJS.ReadableStream, "data");
}

/**
 * Checks that nothing is left of the run, that no worker could start, and that nothing private is
 * shown.
 */
function expectCleanEnd({ emulator, stdout, stderr, text = "", transcript }: Ended): void {
  expect(emulator.endpoints.list()).toMatchObject([OTHER]);
  expect(transcript.endpoint).toEqual({ name: expect.stringMatching(/^verify-service-[0-9a-f]{12}$/), deleted: true });
  const saves = emulator.journal.requests().filter(({ operation }) => operation === "saveEndpoint");
  expect(saves.length).toBeGreaterThan(0);
  for (const save of saves)
    expect(JSON.stringify(save.arguments)).toMatch(/"workersMin":0,"workersMax":0|"workersMax":0,"workersMin":0/);
  for (const hidden of [KEY, OTHER.id, OTHER.name]) expect(stdout + stderr + text).not.toContain(hidden);
}

describe("a whole run", () => {
  let runs: Record<"observed" | "contract" | "otherProfile" | "faulty" | "jobs" | "undeletable", Ended>;

  beforeAll(async () => {
    const faults: FaultRule[] = [
      { match: { interface: "rest" }, effect: { status: 418 } },
      { match: { operation: "purge-queue" }, effect: { status: 503 } },
      { match: { operation: "saveEndpoint", nth: 1 }, effect: { reset: true, when: "after" } },
    ];
    const refusal: FaultRule = { match: { operation: "deleteEndpoint" }, effect: { status: 401 } };
    const [observed, contract, otherProfile, faulty, jobs, undeletable] = await Promise.all([
      startService({ profile: "observed" }).then((emulator) => start(emulator).ended),
      startService().then((emulator) => start(emulator, ["--yes", "--profile", "contract"]).ended),
      startService().then((emulator) => start(emulator).ended),
      startService({ profile: "observed" }, faults).then((emulator) => start(emulator).ended),
      startService({ profile: "observed" }).then((emulator) => start(emulator, ["--yes", "--run-jobs"]).ended),
      startService({ profile: "observed" }, [refusal]).then((emulator) => start(emulator).ended),
    ]);
    runs = { observed, contract, otherProfile, faulty, jobs, undeletable };
  });

  test.each([
    ["observed", 90],
    ["contract", 60],
  ] as const)("a whole run finds no difference between the emulator and the profile %s in any row, and deletes the endpoint", (profile, played) => {
    const { code, transcript, rowsThat, stdout } = runs[profile];
    expect(rowsThat("differs")).toEqual([]);
    expect(rowsThat("as emulated").length).toBeGreaterThanOrEqual(played);
    expect([code, transcript.complete, transcript.profile]).toEqual([0, true, profile]);
    expect(stdout).toMatch(/^as emulated {2}graphql\.wrong-key +documented$/m);
    expect(stdout).toContain(`${rowsThat("as emulated").length} as emulated, 0 differ`);
    expectCleanEnd(runs[profile]);
  });

  test("a whole run compares the responses that prove that a record was created or is gone", () => {
    const facts = ["myself.list-cap", "myself.endpoint", "template.get", "template.get-unknown", "v2.newest-first"];
    expect(runs.observed.rowsThat("as emulated")).toEqual(expect.arrayContaining(facts));
    expect(runs.otherProfile.rowsThat("differs")).toContain("myself.endpoint");
  });

  test("a whole run announces what it will create, and creates nothing else", () => {
    const { stderr, transcript } = runs.observed;
    expect(stderr).toContain("no worker can start: no GPU time is used");
    expect(stderr).toContain(`one endpoint, "${transcript.endpoint.name}" (template template-1)`);
    expect(stderr.indexOf("This creates")).toBeLessThan(stderr.indexOf("playing"));
    const most = Number(/at most (\d+) requests/.exec(stderr)?.[1]);
    expect(transcript.requests.length).toBeLessThanOrEqual(most);
    expect(runs.jobs.stderr).toContain("at most one worker (AMPERE_16), which you pay for");
  });

  test("a whole run names the rows in which a service with the other profile differs, and shows both results", () => {
    const { code, rowsThat, rows, stdout } = runs.otherProfile;
    expect(code).toBe(1);
    expect(rowsThat("differs")).toEqual(
      expect.arrayContaining(["graphql.bearer", "save.flash-boot-suffix", "queue.status-sync", "myself.version"]),
    );
    expect(rowsThat("as emulated")).toEqual(expect.arrayContaining(["save.reset", "rest.unknown-pod", "queue.ttl"]));
    const suffix = rows.find(({ row }) => row === "save.flash-boot-suffix");
    expect(suffix?.expected).toContain("<name> -fb");
    expect(suffix?.actual).toContain('"<name>"');
    expect(stdout).toContain(`             service:  ${suffix?.actual}`);
    expectCleanEnd(runs.otherProfile);
  });

  test("a whole run tells differences apart from rows skipped because the service was busy, and survives a missing response", () => {
    const { code, rowsThat, rows, transcript } = runs.faulty;
    expect([code, transcript.complete]).toEqual([1, false]);
    expect(rowsThat("differs").every((row) => row.startsWith("rest."))).toBe(true);
    expect(rowsThat("differs")).toContain("rest.unknown-pod");
    const broken = rows.filter(({ reason }) => reason?.includes("responded 4 times with 503")).map(({ row }) => row);
    expect(broken).toEqual(expect.arrayContaining(["queue.purge", "queue.health"]));
    expect(rowsThat("as emulated")).toEqual(expect.arrayContaining(["queue.ttl", "delete.done"]));
    expectCleanEnd(runs.faulty);
  });

  test("a whole run compares the writes of REST v2 and leaves no second endpoint behind", async () => {
    const rows = ["v2.create-status", "v2.patch", "v2.gpu-selection", "v2.type-fixed", "v2.delete-status"];
    expect(runs.observed.rowsThat("as emulated")).toEqual(expect.arrayContaining(rows));
    expect(runs.observed.stderr).toContain(`creates a second one, "${runs.observed.transcript.endpoint.name}-v2"`);
    const differing = await startService({ profile: "observed" }, [
      { match: { operation: "updateEndpoint" }, effect: { status: 200, body: "{}" } },
    ]);
    const stuck = await startService({ profile: "observed" }, [
      { match: { operation: "deleteEndpoint", interface: "v2" }, effect: { status: 400 } },
    ]);
    const [deviated, cleaned] = await Promise.all([start(differing).ended, start(stuck).ended]);
    expect(deviated.code).toBe(1);
    expect(deviated.rowsThat("differs")).toEqual(
      expect.arrayContaining(["v2.patch", "v2.type-fixed", "v2.validation"]),
    );
    expectCleanEnd(deviated);
    expect([cleaned.code, cleaned.transcript.complete]).toEqual([1, false]);
    expectCleanEnd(cleaned);
  });

  test("a whole run runs one job only with --run-jobs", () => {
    const { code, rowsThat, emulator } = runs.jobs;
    expect([code, rowsThat("differs")]).toEqual([0, []]);
    const more = ["queue.times", "queue.worker-id", "delete.workers-not-zero"];
    expect(rowsThat("as emulated")).toEqual(expect.arrayContaining(more));
    expect(runs.observed.rowsThat("not played")).toEqual(expect.arrayContaining(more));
    expect(emulator.endpoints.list()).toMatchObject([OTHER]);
  });

  test("a whole run names an endpoint that it cannot delete, and explains how to delete it", () => {
    const { code, stderr, transcript, emulator } = runs.undeletable;
    const [left] = emulator.endpoints.list().filter(({ id }) => id !== OTHER.id);
    expect(code).toBe(1);
    expect(transcript.endpoint).toMatchObject({ deleted: false, id: left?.id, problem: expect.any(String) });
    expect(stderr).toContain(`the endpoint ${left?.id} could not be deleted`);
    expect(stderr).toContain(`delete the endpoint ${left?.id} in the service's console`);
    expect(left).toMatchObject({ workersMin: 0, workersMax: 0 });
  });
});

/** Starts a run whose creation loses its response, and interrupts it after a line. */
async function interruptedRun(signal: NodeJS.Signals, line: string): Promise<Ended> {
  const lost: FaultRule = { match: { operation: "saveEndpoint", nth: 1 }, effect: { reset: true, when: "after" } };
  const service = await startService({ profile: "observed" }, [lost]);
  const { child, printed, ended } = start(service);
  await printedLine(child, printed, line);
  // Its handlers are set before its first request.
  while (!service.journal.operations().includes("saveEndpoint")) await new Promise((resolve) => setTimeout(resolve, 5));
  child.kill(signal);
  return ended;
}

test("a run that is interrupted at any moment ends and deletes the endpoint", async () => {
  const moments = [
    ["SIGINT", "playing GraphQL keys"],
    ["SIGTERM", "playing waiting jobs"],
    ["SIGHUP", "This creates one endpoint"],
  ] as const;
  const results = await Promise.all(moments.map(([signal, line]) => interruptedRun(signal, line)));
  for (const [index, result] of results.entries()) {
    expect([result.code, result.transcript.complete]).toEqual([1, false]);
    expect(result.rows.map(({ reason }) => reason)).toContain(`the run was stopped: ${moments[index]?.[0]}`);
    expectCleanEnd(result);
  }
});

describe("nothing is created", () => {
  const creations = ({ journal }: Emulator) => journal.operations().filter((each) => each === "saveEndpoint");

  test("nothing is created without consent", async () => {
    const service = await startService();
    const { code, stderr } = await start(service, []).ended;
    expect([code, creations(service)]).toEqual([2, []]);
    expect(stderr).toContain("add --yes");
  });

  test("nothing is created if the transcript file already exists", async () => {
    const service = await startService();
    const file = path.join(folder, "there.json");
    writeFileSync(file, "mine");
    const { code, stderr } = await start(service, ["--yes", "--output", file]).ended;
    expect([code, creations(service), readFileSync(file, "utf8")]).toEqual([1, [], "mine"]);
    expect(stderr).toContain("there.json already exists. Nothing was sent. Name another file");
  });

  test("nothing is created if the key is wrong, and the key is not shown", async () => {
    const service = await startService();
    const env = { ...service.env, SERVERLESS_GPU_API_KEY: "another-canary-key" };
    const { code, stderr, text } = await start(service, ["--yes"], env).ended;
    expect([code, text]).toEqual([1, undefined]);
    expect(service.endpoints.list()).toMatchObject([OTHER]);
    expect(stderr).not.toContain("another-canary-key");
  });

  const hasTerminal = existsSync("/usr/bin/script");
  (hasTerminal ? test : test.skip)("if the word on the terminal is not yes", async () => {
    const service = await startService();
    const file = path.join(folder, "terminal.json");
    const command = `'${process.execPath}' '${MAIN}' --template t --output '${file}'; echo "code $?"`;
    const child = spawn("/usr/bin/script", ["-qec", command, "/dev/null"], { env: { ...process.env, ...service.env } });
    let output = "";
    let hasReplied = false;
    child.stdout.on("data", (chunk) => {
      output += chunk;
      // The terminal's control sequences may follow the question, in the same chunk or in another.
      if (!hasReplied && output.includes("to continue:")) hasReplied = child.stdin.write("y\n") || true;
    });
    await once(child, "close");
    expect(output).toContain("nothing was created, because you did not confirm");
    expect(output).toContain("code 1");
    expect([creations(service), existsSync(file)]).toEqual([[], false]);
  });
});
