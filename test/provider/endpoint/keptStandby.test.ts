import { setTimeout as sleep } from "node:timers/promises";
import { type Emulator, startEmulator } from "../../../emulator";
import { type Properties, startDynamicProvider } from "../../support/dynamicProvider";

const INPUTS = { name: "llama", gpuIds: "ADA_24", imageName: "me/llama:1", workersMax: 2 };

let emulator: Emulator;
beforeEach(async () => {
  emulator = await startEmulator({ profile: "observed", drainMs: 0, coldStartMs: 0 });
});
afterEach(() => emulator.stop());

/** Creates an endpoint, changes its workersStandby at the service, and refreshes. */
async function changedElsewhere(inputs: Properties, workersStandby: number) {
  await using one = await startDynamicProvider(emulator.env);
  const checked = await one.check({}, inputs);
  const { id, outputs } = await one.create(checked.inputs);
  emulator.endpoints.change(id, { workersStandby });
  const read = await one.read(id, outputs);
  return { id, outputs: read.outputs };
}

/** Returns what a preview of a change prints, in a run of its own. */
async function preview(id: string, outputs: Properties, inputs: Properties, env: Record<string, string> = {}) {
  await using one = await startDynamicProvider({ ...emulator.env, ...env });
  const checked = await one.check(INPUTS, inputs);
  await one.diff(id, outputs, checked.inputs);
  // What the process prints arrives later than its response.
  await sleep(200);
  return one.output();
}

const KEPT = /warning: endpoint \w+ keeps its workersStandby 1, .* add workersStandby: 0/;

test("a preview names a workersStandby that the program does not set and that keeps workers running, over both APIs", async () => {
  const { id, outputs } = await changedElsewhere(INPUTS, 1);
  expect(await preview(id, outputs, { ...INPUTS, workersMax: 3 })).toMatch(KEPT);
  expect(await preview(id, outputs, INPUTS)).toMatch(KEPT);
  expect(await preview(id, outputs, INPUTS, { SERVERLESS_GPU_API: "v2" })).toMatch(KEPT);
});

test("a preview does not name a workersStandby that the program sets, or that is no higher than workersMin", async () => {
  const { id, outputs } = await changedElsewhere(INPUTS, 1);
  expect(await preview(id, outputs, { ...INPUTS, workersStandby: 0 })).not.toContain("keeps its workersStandby");
  expect(await preview(id, outputs, { ...INPUTS, workersMin: 1 })).not.toContain("keeps its workersStandby");
  const unset = await changedElsewhere({ ...INPUTS, name: "other" }, 0);
  expect(await preview(unset.id, unset.outputs, INPUTS)).not.toContain("keeps its workersStandby");
});
