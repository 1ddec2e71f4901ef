import { type ChildProcess, execFileSync } from "node:child_process";
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { readRecording } from "../../../cli/forecast/load/recording";
import { type Emulator, startEmulator } from "../../../emulator";
import { readLine } from "../../../sdk/recording/recording";
import { ended, firstOutput, run, start } from "../command";

// The command itself, on a real clock: its intervals are minutes.

const SECRET = "planted-secret-77aa";
const ENDPOINT = { id: "llama1234567", name: "llama", templateId: "t", gpuIds: "ADA_24", workersMax: 3 };
const before = { ...process.env };
let emulator: Emulator;
let folder: string;
const children: ChildProcess[] = [];

beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "recorder-"));
  const work = { default: (_: unknown, { sleep }: { sleep(ms: number): Promise<void> }) => sleep(300) };
  emulator = await startEmulator({ profile: "observed", handlers: work, rateLimits: { management: "off" } });
  Object.assign(process.env, emulator.env);
  emulator.seed({ endpoints: [{ ...ENDPOINT, env: [{ key: "HF_TOKEN", value: SECRET }] }] });
});
afterEach(async () => {
  for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
  Object.assign(process.env, before);
  for (const child of children.splice(0)) child.kill("SIGKILL");
  await emulator.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Mounts a file system of 64 kB, which few may. */
function mounted(place: string): string | undefined {
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", place], { stdio: "pipe" });
    return undefined;
  } catch (error) {
    return `needs the right to mount: ${(error as Error).message.split("\n")[0]}`;
  }
}

function whyNot(): string | undefined {
  const place = mkdtempSync(path.join(tmpdir(), "mount-"));
  const why = mounted(place);
  if (why === undefined) execFileSync("umount", [place]);
  rmSync(place, { recursive: true, force: true });
  return why;
}

const CANNOT_MOUNT = whyNot();

/** Starts the command, and returns its URL and what it says. */
async function record() {
  const child = start("metrics", "--listen", "0", "--record", folder);
  children.push(child);
  let said = "";
  child.stderr.on("data", (chunk) => {
    said += String(chunk);
  });
  const output = ended(child);
  return { child, output, url: (await firstOutput(child)).trim(), said: () => said };
}

const lines = () =>
  readdirSync(folder)
    .filter((name) => name.endsWith(".jsonl"))
    .sort()
    .flatMap((name) => readFileSync(path.join(folder, name), "utf8").split("\n"))
    .filter((text) => text !== "");

interface Part {
  readonly from?: string;
  readonly to: string;
  readonly arrivals?: number;
  readonly totals: readonly [number, ...number[]];
}

/** Returns the parts of the endpoint in the whole lines. */
const parts = () =>
  lines().flatMap((text) => {
    const line = readLine(text);
    return line?.kind === "interval" ? (line.endpoints as readonly Part[]) : [];
  });

async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await new Promise((resolve) => setTimeout(resolve, 200));
}

async function submit(): Promise<void> {
  const headers = { authorization: `Bearer ${emulator.apiKey}`, "content-type": "application/json" };
  const body = JSON.stringify({ input: { prompt: SECRET } });
  await fetch(`${emulator.url}/v2/${ENDPOINT.id}/run`, { method: "POST", headers, body });
}

/** Each part begins where the one before ended, and they add up to the service's own counters. */
function expectNoneTwice(): void {
  const [first, ...others] = parts();
  let last = first;
  for (const part of others) {
    expect(part.from).toBe(last?.to);
    expect(part.arrivals).toBe(part.totals[0] - (last?.totals[0] ?? 0));
    last = part;
  }
}

const testMounted = CANNOT_MOUNT === undefined ? test : test.skip;

testMounted(
  `metrics --record on a full disk stops recording, says so, and serves metrics${CANNOT_MOUNT ? ` (${CANNOT_MOUNT})` : ""}`,
  async () => {
    expect(mounted(folder)).toBeUndefined();
    try {
      const { child, output, url, said } = await record();
      await until(() => parts().length > 0);
      const written = lines();
      // The file system hands out pages of 4 kB. The next line begins at the end of the last one.
      const [file = ""] = readdirSync(folder);
      const { size } = statSync(path.join(folder, file));
      appendFileSync(path.join(folder, file), "\n".repeat(4096 - (size % 4096) - 50));
      for (let filler = 65_536; filler >= 4096; filler -= 4096) {
        try {
          writeFileSync(path.join(folder, `filler-${filler}`), "x".repeat(filler));
        } catch {
          // This much does not fit any more.
        }
      }
      await until(() => said().includes("recording has stopped"));
      expect(said()).toMatch(
        /recording has stopped, but the metrics are still served: \S+ cannot be written: the disk is full/,
      );
      const scraped = async () => (await fetch(url)).text();
      expect(await scraped()).toContain("\nserverless_gpu_recording 0\n");
      await submit();
      await until(async () => /endpoint_jobs_completed_total\{.*\} 1\n/.test(await scraped()));
      child.kill("SIGTERM");
      expect((await output).code).toBe(0);
      expect(lines().slice(0, written.length)).toEqual(written);
      const refused = await run("metrics", "--listen", "0", "--record", path.join(folder, "other"));
      expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("cannot be written")]);

      for (const name of readdirSync(folder)) if (name.startsWith("filler")) rmSync(path.join(folder, name));
      const again = await record();
      const known = parts().length;
      await until(() => parts().length > known);
      again.child.kill("SIGTERM");
      await again.output;
      expectNoneTwice();
      expect(parts().at(-1)?.totals[0]).toBe(1);
    } finally {
      // Lazily: after a failure, the command still has a file open.
      execFileSync("umount", ["-l", folder]);
    }
  },
  600_000,
);

test("metrics --record loses at most one interval, and counts nothing twice, when it is killed repeatedly", async () => {
  let submitted = 0;
  const submitting = setInterval(() => {
    submitted += 1;
    void submit();
  }, 700);
  // Around the minute, when a line is written, and at other times.
  const KILLS_AFTER_MS = [200, 3_000, 61_000, 500, 30_500, 1_000, 62_000, 100];
  try {
    for (const afterMs of KILLS_AFTER_MS) {
      const { child, output } = await record();
      await new Promise((resolve) => setTimeout(resolve, afterMs));
      child.kill("SIGKILL");
      await output;
    }
  } finally {
    clearInterval(submitting);
  }
  const { child, output } = await record();
  const known = parts().length;
  // The second has seen all jobs: they have ended long before.
  await until(() => parts().length >= known + 2);
  child.kill("SIGTERM");
  await output;
  expectNoneTwice();
  const [first, ...others] = parts();
  const arrivals = others.reduce((sum, each) => sum + (each.arrivals ?? 0), first?.totals[0] ?? 0);
  expect(arrivals).toBe(submitted);
  expect(lines().filter((text) => readLine(text) === undefined)).toEqual([]);
  const atS = parts().map(({ to }) => Date.parse(to) / 1000);
  const gaps = atS.slice(1).map((at, index) => at - (atS[index] ?? 0));
  // A minute, the one that a kill has cut, and the time of a round.
  for (const gap of gaps) expect(gap).toBeLessThan(60 + 60 + 45);
  const { jobs } = readRecording(folder, "llama", { fromS: 1, toS: 1 });
  expect([...jobs].length).toBe(arrivals - (first?.totals[0] ?? 0));
  expect(lines().join()).not.toContain(SECRET);
}, 900_000);
