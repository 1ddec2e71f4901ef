import path from "node:path";
import { startEmulator } from "../../emulator";
import { createStack, endpointsIn } from "./harness";
import { createPluginStack, withPlugin } from "./pluginStack";

function program(resources: Readonly<Record<string, object>>, options = ""): string {
  const declared = Object.entries(resources).map(([name, args]) => {
    const all = { name: "llama", gpuIds: "AMPERE_24", templateId: "t", ...args };
    return `new ServerlessEndpoint("${name}", ${JSON.stringify(all)}, { ${options} });`;
  });
  return `const { ServerlessEndpoint } = require("pulumi-serverless-gpu");\n${declared.join("\n")}`;
}

const UP = ["up", "--yes", "--skip-preview"];

test("an endpoint that another stack adopted on this machine is not deleted by its previous resource, which can have it back", async () => {
  await using emulator = await startEmulator({ profile: "contract", drainMs: 0 });
  const stack = await createStack({ program: program({ previous: {} }), env: emulator.env });
  await stack.up();
  const [{ id = "" } = {}] = emulator.endpoints.list();
  const another = await createStack({
    program: program({ theirs: { adoptId: id } }, "retainOnDelete: true"),
    // The same machine.
    env: { ...emulator.env, HOME: path.join(stack.scratch, "home") },
  });
  await another.up();
  await another.destroy();

  const refused = await stack.run(["destroy", "--yes", "--skip-preview"]);
  expect(refused.exitCode).not.toBe(0);
  expect(refused.output).toContain(`endpoint ${id} is not deleted, and this resource stays in state`);
  expect(emulator.endpoints.list()).toMatchObject([{ id, workersMax: 3 }]);

  // As the message advises.
  await stack.writeProgram(program({ previous: { adoptId: id } }));
  await stack.up();
  await stack.writeProgram(program({ previous: {} }));
  await stack.up();
  expect(emulator.endpoints.list()).toMatchObject([{ id }]);
  await stack.destroy();
  expect(emulator.endpoints.list()).toEqual([]);
});

test("an endpoint that two resources of the stack manage is kept until one of them has left the program", async () => {
  await using emulator = await startEmulator({ profile: "contract", drainMs: 0 });
  const stack = await createStack({ program: program({ previous: {} }), env: emulator.env });
  await stack.up();
  const [{ id: adoptId = "" } = {}] = emulator.endpoints.list();
  await stack.writeProgram(program({ previous: {}, adopter: { adoptId } }));
  await stack.up("--target", "**::adopter");
  const state = await stack.exportState();

  const refused = await stack.run(["destroy", "--yes", "--skip-preview", "--target", "**::previous"]);
  expect(refused.exitCode).not.toBe(0);
  expect(refused.output).toContain("another resource adopted the endpoint in an earlier run on this machine");
  await stack.writeProgram(program({ adopter: { adoptId } }));
  await stack.up();
  expect(emulator.endpoints.list()).toMatchObject([{ id: adoptId }]);
  expect(endpointsIn(await stack.exportState())).toMatchObject([{ id: adoptId }]);

  // The adopter leaves instead, and releases the endpoint.
  await stack.importState(state);
  await stack.writeProgram(program({ previous: {} }));
  expect((await stack.up()).output).toContain(`endpoint ${adoptId} is released, not deleted`);
  expect(emulator.endpoints.list()).toMatchObject([{ id: adoptId }]);
  await stack.destroy();
  expect(emulator.endpoints.list()).toEqual([]);
});

test.each([
  "dynamic",
  "plugin",
])("a replacement with adoptId keeps the endpoint, even if it deletes before it replaces: %s form", async (form) => {
  await using emulator = await startEmulator({ profile: "contract", drainMs: 0 });
  const ARGS = { name: "llama", gpuIds: ["AMPERE_24"], templateId: "t" };
  const declared = (args: object) => {
    const declaration = `new ServerlessEndpoint("llama", ${JSON.stringify({ ...ARGS, ...args })}, { deleteBeforeReplace: true });`;
    return form === "plugin"
      ? withPlugin(`const { ServerlessEndpoint } = plugin;\n${declaration}`)
      : `const { ServerlessEndpoint } = require("pulumi-serverless-gpu");\n${declaration}`;
  };
  const stack =
    form === "plugin" ? await createPluginStack("", emulator.env) : await createStack({ env: emulator.env });
  const { id: adoptId } = emulator.endpoints.create({ ...ARGS, gpuIds: "AMPERE_24" });
  await stack.writeProgram(declared({ adoptId }));
  await stack.up();
  const replaced = await stack.up("--replace", "**::llama");
  // The plugin deletes first: at that moment, no resource has adopted the endpoint again.
  const why = form === "plugin" ? "is released, not deleted" : "is not deleted, because another resource";
  expect(replaced.output).toContain(`endpoint ${adoptId} ${why}`);
  expect(emulator.endpoints.list()).toMatchObject([{ id: adoptId }]);

  // Without adoptId, the new endpoint has the name of the released one.
  await stack.writeProgram(declared({}));
  const refused = await stack.run([...UP, "--replace", "**::llama"]);
  expect(refused.exitCode).not.toBe(0);
  expect(refused.output).toContain(`set adoptId to "${adoptId}"`);
  expect(emulator.endpoints.list()).toMatchObject([{ id: adoptId }]);
});
