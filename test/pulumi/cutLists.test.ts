import { type Emulator, startEmulator } from "../../emulator";
import { createStack, endpointsIn, type PulumiStack } from "./harness";

const endpoint = (name: string, more = "") =>
  `new ServerlessEndpoint("${name}", { name: "${name}", gpuIds: "AMPERE_24", templateId: "t", workersMax: 0${more} });`;

const program = (...declarations: string[]) => `
const { ServerlessEndpoint, ServerlessTemplate } = require("pulumi-serverless-gpu");
${declarations.join("\n")}
`;

const TEMPLATE = 'new ServerlessTemplate("template", { name: "template", imageName: "image" });';

/** Endpoints of somebody else, older than those of the program. */
const OTHERS = Array.from({ length: 400 }, (_, each) => ({
  id: `other${each}`,
  name: `other ${each}`,
  gpuIds: "AMPERE_24",
  templateId: "t",
  workersMax: 0,
}));

let emulator: Emulator;
let stack: PulumiStack;

beforeEach(async () => {
  emulator = await startEmulator({ profile: "observed", drainMs: 0 });
  stack = await createStack({ env: emulator.env });
});

afterEach(() => emulator.stop());

const own = () => emulator.endpoints.list().filter(({ id }) => !id.startsWith("other"));

test("endpoints that are missing from the list behind 400 others are neither forgotten nor duplicated, and destroy deletes them all", async () => {
  emulator.seed({ endpoints: OTHERS });
  await stack.writeProgram(program(endpoint("one"), endpoint("two"), TEMPLATE));
  await stack.up();
  const ids = own().map(({ id }) => id);
  expect(ids).toHaveLength(2);
  await stack.refresh("--expect-no-changes");
  expect(endpointsIn(await stack.exportState())).toHaveLength(2);
  await stack.writeProgram(program(endpoint("one", ", idleTimeout: 77"), endpoint("two"), TEMPLATE));
  await stack.up();
  expect(own().map(({ id }) => id)).toEqual(ids);
  expect(own().find(({ name }) => name === "one")).toMatchObject({ idleTimeout: 77 });
  await stack.destroy();
  expect(own()).toEqual([]);
  expect(emulator.endpoints.list()).toHaveLength(400);
  expect(emulator.templates.list()).toEqual([]);
});

test("when lists lag by ten seconds, a refresh right after up keeps the new resources", async () => {
  emulator.faults.add({ match: { operation: "myself" }, effect: { listLagMs: 10_000 } });
  emulator.faults.add({ match: { operation: "podTemplate" }, effect: { listLagMs: 10_000 } });
  await stack.writeProgram(program(endpoint("one"), TEMPLATE));
  await stack.up();
  await stack.refresh();
  expect(endpointsIn(await stack.exportState())).toHaveLength(1);
  await stack.up();
  expect(own()).toHaveLength(1);
  expect(emulator.templates.list()).toHaveLength(1);
});
