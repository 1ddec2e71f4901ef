import { type Emulator, startEmulator } from "../../emulator";
import { createStack } from "./harness";

const program = (args: Record<string, unknown>, more = "") => `
const { ServerlessEndpoint } = require("pulumi-serverless-gpu");
new ServerlessEndpoint("one", ${JSON.stringify({ gpuIds: "AMPERE_24", templateId: "template", ...args })});
${more}
`;

let emulator: Emulator;

beforeEach(async () => {
  emulator = await startEmulator({ profile: "contract", drainMs: 100 });
});

afterEach(() => emulator.stop());

test("adoptId adopts an endpoint and updates it to match the program, and the stack deletes the endpoint only after adoptId was removed", async () => {
  const { id } = emulator.endpoints.create({
    name: "by hand",
    gpuIds: "AMPERE_16",
    templateId: "template",
    idleTimeout: 77,
  });
  const stack = await createStack({ program: program({ adoptId: id }), env: emulator.env });
  const preview = await stack.preview("--diff");
  expect(preview.output).toContain(
    `endpoint ${id} ("by hand") is adopted; no endpoint is created. The program changes:`,
  );
  expect(emulator.endpoints.get(id)).toMatchObject({ gpuIds: "AMPERE_16" });

  const up = await stack.up();
  // One line for each resource, without further sentences.
  expect(up.output).toMatch(
    new RegExp(`by hand: adopted endpoint ${id}; changed gpuIds "AMPERE_16" → "AMPERE_24"$`, "m"),
  );
  expect(emulator.endpoints.list()).toMatchObject([{ id, name: "by hand", gpuIds: "AMPERE_24", idleTimeout: 77 }]);

  await stack.preview("--expect-no-changes");
  // While adoptId is in state, the endpoint is released.
  const released = await stack.destroy();
  expect(released.output).toContain(`endpoint ${id} is released, not deleted`);
  expect(emulator.endpoints.list()).toMatchObject([{ id, workersMax: 3 }]);
  await stack.up();
  await stack.writeProgram(program({}));
  const saves = () => emulator.journal.requests({ operation: "saveEndpoint" }).length;
  const before = saves();
  await stack.up();
  expect(saves()).toBe(before);
  await stack.preview("--refresh", "--expect-no-changes");

  await stack.writeProgram(program({ adoptId: "another" }));
  const refused = await stack.run(["preview"]);
  expect(refused.exitCode).not.toBe(0);
  expect(refused.output).toContain(`this resource has endpoint ${id} already`);

  await stack.destroy();
  expect(emulator.endpoints.list()).toEqual([]);
});

test("an existing name is refused with advice", async () => {
  const stack = await createStack({ program: program({}), env: emulator.env });
  await stack.setConfig({ "serverless-gpu:namespace": "team-a" });
  await stack.up();
  const [own] = emulator.endpoints.list();
  // As after a create that was interrupted before the engine recorded it. The name is unique to
  // this stack.
  const urn = (await stack.exportState()).deployment.resources?.find(({ urn }) => urn.endsWith("::one"))?.urn ?? "";
  await stack.succeed(["state", "delete", urn, "--yes", "--force"]);
  const refused = await stack.run(["up", "--yes", "--skip-preview"]);
  expect(refused.exitCode).not.toBe(0);
  expect(refused.output).toContain(
    `an endpoint named "${own?.name}" already exists: ${own?.id}. No endpoint was created`,
  );
  expect(refused.output).toContain(`set adoptId to "${own?.id}"`);
  await stack.writeProgram(program({ adoptId: own?.id }));
  await stack.up();
  expect(emulator.endpoints.list()).toMatchObject([{ id: own?.id }]);
});
