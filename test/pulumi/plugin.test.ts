import { type Emulator, startEmulator } from "../../emulator";
import { createPluginStack, withPlugin } from "./pluginStack";

let emulator: Emulator;

beforeEach(async () => {
  emulator = await startEmulator({ profile: "contract", drainMs: 0 });
});

afterEach(() => emulator.stop());

test("an endpoint is created, left unchanged, changed in a list element, repaired after drift, and destroyed", async () => {
  const program = (gpuIds: string, workersMax: number) => `
const one = new plugin.ServerlessEndpoint("one", { gpuIds: ${gpuIds}, templateId: "template", workersMax: ${workersMax} });
exports.url = one.queueUrl;
exports.gpuIds = one.gpuIds;
`;
  const stack = await createPluginStack(program('["AMPERE_16", "AMPERE_24"]', 2), emulator.env);
  await stack.up();
  const [endpoint] = emulator.endpoints.list();
  expect(await stack.outputs()).toEqual({
    url: `${emulator.url}/v2/${endpoint?.id}`,
    gpuIds: ["AMPERE_16", "AMPERE_24"],
  });
  await stack.preview("--expect-no-changes");

  await stack.writeProgram(withPlugin(program('["AMPERE_16", "ADA_24"]', 3)));
  const { output } = await stack.up("--diff");
  expect(output).toMatch(/gpuIds +: \[\s+~ \[1\]: "AMPERE_24" => "ADA_24"\s+\]/);
  expect(output).toMatch(/~ workersMax *: 2 => 3/);
  expect(output).not.toMatch(/templateId|__/);

  emulator.endpoints.change(String(endpoint?.id), { gpuIds: "AMPERE_16,AMPERE_80", idleTimeout: 99 });
  const drift = await stack.run(["refresh", "--preview-only", "--diff", "--expect-no-changes"]);
  expect(drift.exitCode).not.toBe(0);
  expect(drift.output).toMatch(/\[1\]: "ADA_24" => "AMPERE_80"/);
  await stack.refresh();
  await stack.up();
  expect(emulator.endpoints.list()).toMatchObject([{ gpuIds: "AMPERE_16,ADA_24", workersMax: 3, idleTimeout: 99 }]);
  const ignoring = program('["AMPERE_16", "AMPERE_80"]', 3).replace("}", '}, { ignoreChanges: ["gpuIds[1]"] }');
  await stack.writeProgram(withPlugin(ignoring));
  await stack.preview("--expect-no-changes");
  await stack.destroy();
  expect(emulator.endpoints.list()).toEqual([]);
});
