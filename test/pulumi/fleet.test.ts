import { startEmulator } from "../../emulator";
import { createStack, type State } from "./harness";

const SIZE = 300;

const program = (size: number) => `
const { ServerlessEndpoint } = require("pulumi-serverless-gpu");
for (let i = 0; i < ${size}; i++) {
  new ServerlessEndpoint("fleet-" + i, { name: "fleet-" + i, gpuIds: "AMPERE_16", templateId: "template" });
}
`;

/** Returns the state of a whole fleet, from the state of its first endpoint. */
function multiplied({ version, deployment }: State, firstId: string): State {
  const resources = deployment.resources ?? [];
  const first = JSON.stringify(resources.find(({ id }) => id === firstId));
  const others = Array.from({ length: SIZE - 1 }, (_, index) =>
    JSON.parse(first.replaceAll(firstId, `id-${index + 1}`).replaceAll("fleet-0", `fleet-${index + 1}`)),
  );
  return { version, deployment: { ...deployment, resources: [...resources, ...others] } };
}

test(`a refresh of ${SIZE} endpoints sends at most 3 list requests, and shows the endpoint that has changed`, async () => {
  await using emulator = await startEmulator({ profile: "contract" });
  const stack = await createStack({ program: program(1), env: emulator.env });
  await stack.up();
  const [first] = emulator.endpoints.list();
  await stack.importState(multiplied(await stack.exportState(), first?.id ?? ""));
  await stack.writeProgram(program(SIZE));
  const fleet = Array.from({ length: SIZE - 1 }, (_, index) => ({ id: `id-${index + 1}`, name: `fleet-${index + 1}` }));
  emulator.seed({ endpoints: fleet.map((each) => ({ ...each, gpuIds: "AMPERE_16", templateId: "template" })) });
  emulator.endpoints.change("id-7", { gpuIds: "AMPERE_80" });

  emulator.journal.clear();
  const { output } = await stack.preview("--refresh");
  expect(output).toMatch(/~ 1 to update/);
  expect(output).toMatch(new RegExp(`${SIZE} unchanged`));
  const operations = emulator.journal.operations();
  expect(new Set(operations)).toEqual(new Set(["myself"]));
  expect(operations.length).toBeLessThanOrEqual(3);
});
