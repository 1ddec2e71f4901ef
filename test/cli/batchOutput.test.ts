import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { caughtUp } from "../../cli/batch/caughtUp";
import { OutputFile } from "../../cli/batch/outputFile";
import { fileJournal } from "../../sdk";

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "output-"));
  file = path.join(folder, "out.jsonl");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const line = (key: string) => JSON.stringify({ key, index: 0, jobId: `job-${key}`, output: "x" });
const contents = () => readFile(file, "utf8");

/** Opens the file, adds a result and closes it. */
async function add(key: string) {
  const output = await OutputFile.open(file);
  const known = ["a", "b"].filter((each) => output.has(each));
  output.add(key, line(key), { isFailed: false });
  await output.flush();
  await output.close();
  return known;
}

test.each([
  ["a letter"],
  ['{"prompt":"Hi"}'],
  ['{"key":"p1","prompt":"hi"}'],
  ['{"key":"a","prompt":"Hi"}\n'],
  [`${line("a")}\na letter`],
])("a file with anything but results stays as it is, even without a last line break: %j", async (text) => {
  await writeFile(file, text);
  await expect(OutputFile.open(file)).rejects.toThrow(/not a result/);
  expect(await contents()).toBe(text);
});

test.each([
  ["a whole result without its line break stays", line("b"), ["a", "b"], `${line("b")}\n`],
  ["the beginning of a result is removed", line("b").slice(0, 20), ["a"], ""],
  ["the first character of a result is removed", "{", ["a"], ""],
  ["zeros are removed, which a power failure can leave", "\0\0\0", ["a"], ""],
])("%s", async (_, end, known, kept) => {
  await writeFile(file, `${line("a")}\n${end}`);
  expect(await add("c")).toEqual(known);
  expect(await contents()).toBe(`${line("a")}\n${kept}${line("c")}\n`);
});

test("failed results are removed on request, and the file keeps its mode", async () => {
  const failed = JSON.stringify({ key: "b", index: 1, jobId: "job-b", error: { message: "no" } });
  await writeFile(file, `${line("a")}\n${failed}\n`, { mode: 0o600 });
  const output = await OutputFile.open(file);
  expect(output.get("b")).toEqual({ isFailed: true, hash: undefined });
  await output.removeFailed();
  expect([output.has("a"), output.has("b"), (await stat(file)).mode & 0o777]).toEqual([true, false, 0o600]);
  output.add("c", line("c"), { isFailed: false });
  await output.flush();
  await output.close();
  expect(await contents()).toBe(`${line("a")}\n${line("c")}\n`);
});

test("a journal that is behind the output learns which results were written, but not those of other jobs", async () => {
  const place = path.join(folder, "b.journal");
  const identity = { batch: "b", endpointId: "e", keyVersion: "1" };
  const entries = ["a", "b", "c", "d"].map((key) => ({ key }));
  const first = await fileJournal(place).open(identity);
  await first.claim("o", entries, []);
  const changes = entries.map(({ key }) => ({ key, owner: "o", state: "submitted" as const, jobId: `job-${key}` }));
  await first.record("o", [...changes.slice(0, 3), { key: "d", owner: "o", state: "uncertain" }]);
  await first.close();
  const failed = (key: string, jobId: string) => JSON.stringify({ key, index: 1, jobId, error: { message: "no" } });
  await writeFile(file, [line("a"), failed("b", "job-b"), failed("c", "earlier"), line("d"), ""].join("\n"));
  const output = await OutputFile.open(file);
  const open = await caughtUp(fileJournal(place), output).open(identity);
  const found = await open.collect(
    "o",
    entries.map(({ key }) => key),
  );
  expect(found.map(({ key, state }) => `${key} ${state}`)).toEqual([
    "a delivered",
    "b failed",
    "c submitted",
    "d uncertain",
  ]);
  await open.close();
  await output.close();
});

test.each(["/dev/null", tmpdir()])("%s cannot be an output", async (place) => {
  await expect(OutputFile.open(place)).rejects.toThrow(`${place} is not a file`);
});

test("a second process cannot use the file, and changes nothing", async () => {
  const first = await OutputFile.open(file);
  await writeFile(file, line("a").slice(0, 20));
  await expect(OutputFile.open(file)).rejects.toThrow(/the output .* is in use .* or give --output another name/);
  expect(await contents()).toBe(line("a").slice(0, 20));
  await first.close();
  expect(await add("b")).toEqual([]);
});

test("large results are written before many of them are kept", async () => {
  const output = await OutputFile.open(file);
  output.add("a", "x".repeat(10_000_000), { isFailed: false });
  expect(output.isFull).toBe(false);
  output.add("b", "x".repeat(10_000_000), { isFailed: false });
  expect(output.isFull).toBe(true);
  await output.flush();
  expect(output.isFull).toBe(false);
  await output.close();
});
