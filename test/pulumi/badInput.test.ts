import { startEmulator } from "../../emulator";
import { createStack } from "./harness";

test("all invalid inputs are reported at once, and a plain up stops in its preview before anything is written", async () => {
  await using emulator = await startEmulator({ profile: "contract" });
  const program = `
const { ServerlessEndpoint } = require("pulumi-serverless-gpu");
const good = new ServerlessEndpoint("good", { gpuIds: "AMPERE_16", templateId: "template" });
new ServerlessEndpoint("bad", {
  gpuIds: ["AMPER_24"], templateId: "", locations: "Mars", scalerValue: -1, workersMin: 4, workersMax: 2, idleTimout: 5,
}, { dependsOn: good });
`;
  const stack = await createStack({ program, env: emulator.env });
  const { exitCode, output } = await stack.run(["up", "--yes"]);
  expect(exitCode).not.toBe(0);
  expect(output).toMatch(/gpuIds.*"AMPER_24" is not a known GPU pool. Did you mean AMPERE_24\? Allowed: AMPERE_16/);
  expect(output).toMatch(/templateId is required \(or imageName/);
  expect(output).toMatch(/locations.*"Mars" is neither a known country/);
  expect(output).toMatch(/scalerValue.*must be a number above 0; it is -1/);
  expect(output).toMatch(/scalerValue.*requires scalerType/);
  expect(output).toMatch(/workersMin.*is 4, more than workersMax \(2\)/);
  expect(output).toMatch(/idleTimout.*Did you mean idleTimeout\?/);
  expect(emulator.journal.requests()).toEqual([]);
  expect((await stack.exportState()).deployment.resources ?? []).toEqual([]);
});

test("a preview that reads nothing needs neither a key nor a network", async () => {
  const program = `
const { ServerlessEndpoint } = require("pulumi-serverless-gpu");
exports.url = new ServerlessEndpoint("one", { gpuIds: "AMPERE_16", templateId: "template" }).queueUrl;
`;
  const stack = await createStack({ program });
  const { output } = await stack.preview("--diff");
  expect(output).toMatch(/url: \[unknown\]/);
  expect(output).toMatch(/gpuIds +: "AMPERE_16"/);
});
