import { readFileSync } from "node:fs";
import path from "node:path";
import { loadHandlers, type Seed, startEmulator } from "../../emulator";
import { createClient } from "../../sdk/client/client";

const FOLDER = path.resolve(__dirname, "../../examples/http-server");

test("http-server holds a request while the server loads, and streams its response", async () => {
  const seed: Seed = JSON.parse(readFileSync(path.join(FOLDER, "seed.json"), "utf8"));
  const handlers = loadHandlers(path.join(FOLDER, "handlers"));
  await using emulator = await startEmulator({ profile: "observed", seed, handlers });
  await using client = createClient({ apiKey: emulator.apiKey, queueUrl: emulator.url });
  const response = await client.endpoint("app-endpoint").fetch("/generate?prompt=once%20upon");
  expect([response.status, await response.text()]).toEqual([200, "ONCE UPON "]);
  const said = emulator.journal.workerOutput().map(({ line }) => line);
  expect(said.at(-1)).toMatch(/the health check responded with 200: the worker is healthy$/);
});
