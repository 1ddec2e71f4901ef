import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { request } from "undici";
import { startEmulator } from "../../../emulator";

const KEYS = 300_000;

/** The time that this thread has worked, in milliseconds. The machine may be busy with others. */
function workedMs(): number {
  if (process.platform !== "linux") return performance.now();
  return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;
}

test("a job with 300,000 keys is processed in steps that let other requests run", async () => {
  await using emulator = await startEmulator({
    profile: "contract",
    coldStartMs: 0,
    handlers: { e: (job) => job.input },
  });
  emulator.seed({
    templates: [{ id: "t", name: "t", imageName: "app:1" }],
    endpoints: [{ id: "e", name: "e", gpuIds: "ADA_24", templateId: "t", workersMin: 1, workersMax: 1 }],
  });
  const body = JSON.stringify({
    input: Object.fromEntries(Array.from({ length: KEYS }, (_, at) => [`key-${at}`, at])),
  });
  const headers = { authorization: `Bearer ${emulator.apiKey}`, "content-type": "application/json" };
  const queue = `${emulator.url}/v2/e`;
  const blocks: number[] = [];
  let last = workedMs();
  const watch = setInterval(() => {
    const now = workedMs();
    blocks.push(now - last);
    last = now;
  }, 5);
  await (await request(`${queue}/run`, { method: "POST", headers, body })).body.dump();
  const health = async () => (await request(`${queue}/health`, { headers })).body.text();
  while ((await health()).includes('"completed":0')) await sleep(20);
  clearInterval(watch);
  // Each step takes as long as it does: parsing, copying the job, and copying its result.
  const total = blocks.reduce((sum, each) => sum + each, 0);
  expect(Math.max(...blocks) / total).toBeLessThan(0.6);
});
