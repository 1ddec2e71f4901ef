import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { type Emulator, startEmulator } from "../../../emulator";
import { send } from "../../support/plainClient";

let folder: string;
let dataFile: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "emulator-data-"));
  dataFile = path.join(folder, "state.json");
});
afterEach(() => rmSync(folder, { recursive: true }));

const WAITING = { gpuIds: "ADA_24", templateId: "t", workersMin: 0, workersMax: 0 };

/** Sends a request to an endpoint's queue. */
async function queue({ url, apiKey }: Emulator, path: string, input?: unknown) {
  const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
  const body = input === undefined ? null : JSON.stringify({ input });
  return (await send(`${url}/v2/${path}`, { method: "POST", headers, body })).body;
}

/** Sends any request: when it returns, everything before it is saved. */
const saved = ({ url }: Emulator) => send(`${url}/_emulator/pods`);

async function stateOf(emulator: Emulator) {
  const { body } = await send(`${emulator.url}/_emulator/jobs`);
  return {
    jobs: body,
    endpoints: emulator.endpoints.list().map(({ pods, ...record }) => record),
    templates: emulator.templates.list(),
    pods: emulator.pods.list(),
  };
}

/** Returns the state of an emulator that starts with the file as it is now, as after a kill. */
async function stateAfterKill() {
  const copy = path.join(folder, "copy.json");
  copyFileSync(dataFile, copy);
  await using next = await startEmulator({ profile: "contract", dataFile: copy });
  return await stateOf(next);
}

describe("the changes in a data file", () => {
  test("the changes in a data file survive a kill, whatever their kind", async () => {
    await using emulator = await startEmulator({ profile: "contract", dataFile, rateLimits: { limits: "off" } });
    const { endpoints, templates, pods } = emulator;
    const [first, second] = ["a", "b"].map((id) => endpoints.create({ id, name: id, ...WAITING }));
    templates.create({ id: "t", name: "t", imageName: "app:1" });
    const job = (await queue(emulator, "a/run", { step: 1 })).id;
    const steps: (() => unknown)[] = [
      () => queue(emulator, "b/run", { step: 2 }),
      () => queue(emulator, `a/cancel/${job}`),
      () => endpoints.change("a", { name: "other" }),
      () => templates.change("t", { imageName: "app:2" }),
      () => pods.add({ id: "pod-1" }),
      () => queue(emulator, "b/purge-queue"),
      () => queue(emulator, "b/run", { step: 3 }),
      () => {
        endpoints.delete("b");
        endpoints.create({ id: "b", name: "again", ...WAITING });
      },
      () => queue(emulator, "b/run", { step: 4 }),
      () => pods.remove("pod-1"),
      () => templates.delete("t"),
      () => endpoints.delete("a"),
      () => emulator.reset(),
    ];
    expect([first?.id, second?.id]).toEqual(["a", "b"]);
    for (const step of steps) {
      await step();
      await saved(emulator);
      expect(await stateAfterKill()).toEqual(await stateOf(emulator));
    }
  });

  test("the changes in a data file are written with all other data if the file has disappeared", async () => {
    await using emulator = await startEmulator({ profile: "contract", dataFile });
    emulator.endpoints.create({ id: "a", name: "a", ...WAITING });
    await saved(emulator);
    rmSync(dataFile);
    await queue(emulator, "a/run", {});
    expect((await stateAfterKill()).jobs).toHaveLength(1);
  });

  test("the changes in a data file can contain jobs with as many levels as a request may have, but no results with more levels", async () => {
    const handlers = { deep: () => JSON.parse(`${"[".repeat(5_000)}${"]".repeat(5_000)}`) };
    const emulator = await startEmulator({ profile: "contract", dataFile, handlers });
    const { id } = emulator.endpoints.create({ name: "deep", ...WAITING, workersMax: 1 });
    const waiting = emulator.endpoints.create({ name: "waiting", ...WAITING });
    const input = JSON.parse(`${'{"a":'.repeat(998)}1${"}".repeat(998)}`);
    await queue(emulator, `${waiting.id}/run`, input);
    const { status, error } = await queue(emulator, `${id}/runsync`, {});
    expect([status, error]).toEqual(["FAILED", "the value is nested more than 1,000 levels deep"]);
    await emulator.stop();
    await using next = await startEmulator({ profile: "contract", dataFile, handlers });
    expect((await stateOf(next)).jobs).toHaveLength(2);
  });

  test("the changes in a data file can follow a file that was formatted by hand", async () => {
    const emulator = await startEmulator({
      profile: "contract",
      dataFile,
      seed: { endpoints: [{ id: "a", name: "a", ...WAITING }] },
    });
    await emulator.stop();
    writeFileSync(dataFile, JSON.stringify(JSON.parse(readFileSync(dataFile, "utf8")), null, 2));
    await using next = await startEmulator({ profile: "contract", dataFile });
    expect(next.apiKey).toBe(emulator.apiKey);
    await queue(next, "a/run", {});
    expect((await stateAfterKill()).jobs).toHaveLength(1);
  });
});
