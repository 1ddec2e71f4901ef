import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

const MODULE = path.resolve(__dirname, "../../../build/provider/machine/machineRecord.js");
const folder = mkdtempSync(path.join(tmpdir(), "records-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const RECORDS = path.join(folder, "cache/pulumi-serverless-gpu/records");

/** Runs code in a process of its own, and returns what it prints as JSON. */
function run(code: string, cache = path.join(folder, "cache")): unknown {
  const script = `const records = require(${JSON.stringify(MODULE)});
    const subject = { service: "runpod", noun: "endpoint", thing: "zero", key: "abc" };
    console.log(JSON.stringify((() => { ${code} })() ?? null));`;
  const env = { XDG_CACHE_HOME: cache, TMPDIR: path.join(folder, "none") };
  const { stdout, stderr } = spawnSync(process.execPath, ["-e", script], { env, encoding: "utf8", timeout: 30_000 });
  if (stderr) throw new Error(stderr);
  return JSON.parse(stdout);
}

test("a record can be read by another process, and no longer exists after its removal", () => {
  expect(run("return records.readRecord(subject)")).toBeNull();
  expect(run("return records.writeRecord(subject, { workersMax: 3 })")).toBe(true);
  expect(run("return records.readRecord(subject)")).toEqual({ workersMax: 3 });
  expect(run('return records.readRecord({ ...subject, service: "other" })')).toBeNull();
  expect(run("records.removeRecord(subject); return records.readRecord(subject)")).toBeNull();
});

test("a record is void if state names a later write than it did when the record was made", () => {
  run('return records.writeRecord(subject, { workersMax: 3 }, { __stamp: "owner.first" })');
  expect(run('return records.readRecord(subject, { __stamp: "owner.first" })')).toEqual({
    workersMax: 3,
    after: "first",
  });
  expect(run('return records.readRecord(subject, { __stamp: "owner.second" })')).toBeNull();
  run("return records.writeRecord(subject, { workersMax: 2 }, {})");
  expect(run("return records.readRecord(subject, {})")).toEqual({ workersMax: 2, after: "" });
});

test("a file that is not a record is ignored, and the next write replaces it", () => {
  run("return records.writeRecord(subject, { workersMax: 3 })");
  const [file = ""] = readdirSync(RECORDS);
  writeFileSync(path.join(RECORDS, file), '{"workersMax":');
  expect(run("return records.readRecord(subject)")).toBeNull();
  run("return records.writeRecord(subject, { workersMax: 4 })");
  expect(run("return records.readRecord(subject)")).toEqual({ workersMax: 4 });
  expect(readdirSync(RECORDS)).toHaveLength(1);
});

test("a machine without a writable folder keeps no records and says so", () => {
  const code = "return [records.writeRecord(subject, {}), records.readRecord(subject) ?? 'none']";
  expect(run(code, "/dev/null/cache")).toEqual([false, "none"]);
});
