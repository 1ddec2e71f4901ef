import { type Emulator, startEmulator } from "../../emulator";
import { PROVIDER_TEXT, startDynamicProvider } from "../support/dynamicProvider";
import { startPlugin } from "../support/plugin";

const ONE = { kind: "ServerlessEndpoint" };

let emulator: Emulator;

beforeEach(async () => {
  emulator = await startEmulator({ profile: "contract" });
});

afterEach(() => emulator.stop());

test("an endpoint moves from the dynamic form to the plugin and back with one update each, and only comparisons call the service", async () => {
  const args = { name: "llama", gpuIds: ["AMPERE_24", "ADA_24"], templateId: "template", locations: ["RO", "CZ"] };
  await using dynamic = await startDynamicProvider(emulator.env);
  await using plugin = await startPlugin(emulator.env);
  const before = await dynamic.check({}, args);
  const { id, outputs } = await dynamic.create(before.inputs);
  emulator.journal.clear();

  const there = await plugin.check(ONE, args, before.inputs);
  expect(there).toMatchObject({ inputs: { ...args, locations: ["CZ", "RO"] }, failures: [] });
  expect(await plugin.diff(ONE, id, outputs, before.inputs, there.inputs)).toEqual({
    changes: "some",
    replaces: [],
    deleteBeforeReplace: true,
    properties: {},
  });
  const moved = await plugin.update(ONE, id, outputs, before.inputs, there.inputs);
  expect(moved).not.toHaveProperty("__provider");
  expect(moved).toMatchObject({ gpuIds: args.gpuIds, locations: ["CZ", "RO"], __stamp: outputs.__stamp });
  expect(await plugin.diff(ONE, id, moved, there.inputs, there.inputs)).toMatchObject({ changes: "none" });

  const back = await dynamic.check(there.inputs, args);
  expect(back.inputs).toEqual(before.inputs);
  // The engine passes the outputs of the plugin, which have no code.
  const { __provider, ...recorded } = { __provider: undefined, ...moved };
  expect(await dynamic.diff(id, { ...recorded, __provider: "" }, back.inputs)).toMatchObject({ changes: "some" });
  expect(await dynamic.update(id, recorded, back.inputs)).toEqual(outputs);
  expect(outputs.__provider).toBe(PROVIDER_TEXT);
  // Comparisons look whether the endpoint is at zero. Comparisons that follow each other closely
  // share one look.
  expect([...new Set(emulator.journal.operations())]).toEqual(["myself"]);
});
