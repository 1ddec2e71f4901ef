import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { openRecording, type RecordedLine, readLine, recordingLine } from "../../../sdk/recording/recording";
import { createWebhookReceiver } from "../../../sdk/webhooks/webhookReceiver";
import { startEmulated } from "../../support/emulated";
import { startQueue } from "../../support/queue";
import { listen } from "../../support/webhookServer";

const folders: string[] = [];
const COLUMNS = { measured: [], notMeasured: {} };
const DAY = Date.UTC(2026, 0, 5);

function newFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), "recording-test-"));
  folders.push(folder);
  return folder;
}

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

const textOf = (folder: string) =>
  readdirSync(folder)
    .map((name) => readFileSync(path.join(folder, name), "utf8"))
    .join("");
const linesIn = (folder: string) =>
  textOf(folder)
    .split("\n")
    .filter((text) => text !== "")
    .map(readLine);
const jobsIn = (folder: string) => linesIn(folder).filter((line) => line?.kind === "job");

test("a line is read back unchanged, and a modified or truncated line is rejected", () => {
  const line: RecordedLine = { kind: "job", by: "client", status: "COMPLETED", name: 'a "quoted" name,"sum":"x"' };
  const text = recordingLine(line);
  expect(readLine(text)).toEqual(line);
  expect(JSON.parse(text)).toMatchObject({ v: 1, status: "COMPLETED" });
  expect(readLine(text.replace("COMPLETED", "FAILED"))).toBeUndefined();
  for (let length = 0; length < text.length; length++) expect(readLine(text.slice(0, length))).toBeUndefined();
});

test("each day has its own file with column names, and a truncated line does not damage the line after it", () => {
  const folder = newFolder();
  const [one, other] = [openRecording(folder, "client", COLUMNS), openRecording(folder, "webhook", COLUMNS)];
  one.append({ kind: "job", by: "client", number: 1 }, DAY);
  appendFileSync(path.join(folder, "2026-01-05.jsonl"), '{"v":1,"kind":"jo');
  other.append({ kind: "job", by: "webhook", number: 2 }, DAY + 1000);
  one.append({ kind: "job", by: "client", number: 3 }, DAY + 86_400_000);
  expect(readdirSync(folder)).toEqual(["2026-01-05.jsonl", "2026-01-06.jsonl"]);
  const lines = linesIn(folder);
  expect(lines.filter((line) => line?.kind === "job").map((line) => line?.number)).toEqual([1, 2, 3]);
  expect(lines.filter((line) => line?.kind === "columns")).toHaveLength(3);
  expect(lines.filter((line) => line === undefined)).toHaveLength(1);
});

test("a client records each job once, with its times but without its input and output", async () => {
  const folder = newFolder();
  const handler = async (job: { input: unknown }, { sleep }: { sleep(ms: number): Promise<void> }) => {
    await sleep(2000);
    if ((job.input as { fails?: boolean }).fails) throw new Error("planted-error-41");
    return "planted-output-41";
  };
  const endpoints = [{ id: "e1", name: "a", templateId: "t", gpuIds: "ADA_24" }];
  await using emulated = await startEmulated({
    emulator: { seed: { endpoints }, handlers: { default: handler } },
    client: { record: folder },
  });
  const queue = emulated.client.endpoint("e1");
  const job = await emulated.run(queue.run({ input: { prompt: "planted-input-41" } }));
  await emulated.run(job.wait());
  await emulated.run(job.status());
  await emulated.run(queue.runSync({ input: { prompt: "planted-input-41" } }));
  await emulated.failure(queue.runSync({ input: { fails: true, prompt: "planted-input-41" } }));
  const jobs = jobsIn(folder);
  expect(jobs.map((line) => line?.status)).toEqual(["COMPLETED", "COMPLETED", "FAILED"]);
  expect(jobs[0]).toMatchObject({
    by: "client",
    endpoint: "e1",
    job: job.id,
    runMs: 2000,
    submittedAt: expect.any(String),
  });
  expect(textOf(folder)).not.toMatch(/planted/);
});

test("a folder that is not writable is reported once, and no job fails because of it", async () => {
  const file = path.join(newFolder(), "a-file");
  appendFileSync(file, "");
  const warnings: string[] = [];
  const endpoints = [{ id: "e1", name: "a", templateId: "t", gpuIds: "ADA_24" }];
  await using emulated = await startEmulated({
    emulator: { seed: { endpoints } },
    client: { record: path.join(file, "folder"), onWarning: ({ message }) => warnings.push(message) },
  });
  for (let job = 0; job < 2; job++) await emulated.run(emulated.client.endpoint("e1").runSync({ input: {} }));
  expect(warnings).toEqual([expect.stringContaining("jobs are no longer recorded in")]);
});

test("a webhook receiver records the ends of jobs that it confirms in the same folder", async () => {
  const folder = newFolder();
  await using emulated = await startQueue({});
  const receiver = createWebhookReceiver({
    endpoint: emulated.queue,
    onJob: () => {},
    onError: () => {},
    record: folder,
  });
  await using server = await listen(receiver.node);
  const job = await emulated.run(emulated.queue.run({ input: {}, webhook: server.url }));
  await emulated.clock.advance(10_000);
  await emulated.run(receiver.idle());
  expect(jobsIn(folder)).toMatchObject([
    { by: "webhook", job: job.id, status: "COMPLETED", runMs: expect.any(Number) },
  ]);
});
