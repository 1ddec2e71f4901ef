import { startEmulator } from "../../emulator";
import { createStack } from "./harness";

const PROGRAM = `
const pulumi = require("@pulumi/pulumi");
const { ServerlessEndpoint, getPod, getPodOutput } = require("pulumi-serverless-gpu");
module.exports = async () => {
  const pod = await getPod({ podId: "pod-1", includeMachine: true });
  const endpoint = new ServerlessEndpoint("one", { gpuIds: "AMPERE_16", templateId: "template" });
  const later = getPodOutput({ podId: endpoint.endpointId.apply(() => "pod-1"), includeNetworkVolume: true });
  return {
    image: pod.image,
    machine: pod.machine.dataCenterId,
    env: pod.env,
    volume: later.networkVolume.apply((volume) => volume.id),
    laterEnv: later.env,
    laterSecret: pulumi.isSecret(later.env),
    nameIsSecret: pulumi.isSecret(later.name),
  };
};
`;

test("pods are read immediately or once an output is known, and their env is secret", async () => {
  await using emulator = await startEmulator({ profile: "contract" });
  emulator.pods.add({
    id: "pod-1",
    image: "image:1",
    env: { TOKEN: "pod-secret-123" },
    machine: { dataCenterId: "EU-RO-1" },
    networkVolume: { id: "volume-1", name: "models", size: 50, dataCenterId: "EU-RO-1" },
  });
  const stack = await createStack({ program: PROGRAM, env: emulator.env });

  const { output } = await stack.preview();
  expect(emulator.journal.operations()).toEqual(["getPod"]);
  expect(output).toContain("volume");

  await stack.up();
  expect(await stack.outputs()).toEqual({
    image: "image:1",
    machine: "EU-RO-1",
    env: { TOKEN: "pod-secret-123" },
    volume: "volume-1",
    laterEnv: { TOKEN: "pod-secret-123" },
    laterSecret: true,
    nameIsSecret: false,
  });
  const shown = await stack.succeed(["stack", "output", "--json"]);
  expect(shown.stdout).not.toContain("pod-secret-123");
  expect(JSON.stringify(await stack.exportState())).not.toContain("pod-secret-123");
  await stack.destroy();
});

test("a pod that does not exist causes an error that names it", async () => {
  await using emulator = await startEmulator({ profile: "contract" });
  const program = `exports.pod = require("pulumi-serverless-gpu").getPod({ podId: "nowhere" });`;
  const stack = await createStack({ program, env: emulator.env });
  const { exitCode, output } = await stack.run(["preview"]);
  expect(exitCode).not.toBe(0);
  expect(output).toMatch(/reading pod nowhere: the service responded with 404/);
});
