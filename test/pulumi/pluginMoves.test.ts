import { type Emulator, startEmulator } from "../../emulator";
import { createPluginStack, withPlugin } from "./pluginStack";

const TYPE = "serverless-gpu:index:ServerlessEndpoint";
const SETTINGS = `gpuIds: ["AMPERE_16", "AMPERE_24"], templateId: "template"`;

let emulator: Emulator;

beforeEach(async () => {
  emulator = await startEmulator({ profile: "contract", drainMs: 0 });
});

afterEach(() => emulator.stop());

test("an endpoint is imported by its id, and a program that declares it shows no changes", async () => {
  emulator.seed({
    endpoints: [
      { id: "abc123", name: "made-elsewhere", gpuIds: "ADA_24,-NVIDIA L4", templateId: "tpl", workersMax: 5 },
    ],
  });
  const stack = await createPluginStack("", emulator.env);
  const wrong = await stack.run(["import", TYPE, "one", "nope", "--yes", "--generate-code=false", "--skip-preview"]);
  expect(wrong.output).toContain("endpoint nope does not exist");
  await stack.succeed(["import", TYPE, "one", "abc123", "--yes", "--generate-code=false", "--skip-preview"]);
  const declared = `name: "made-elsewhere", gpuIds: ["ADA_24", "-NVIDIA L4"], templateId: "tpl", workersMax: 5`;
  await stack.writeProgram(withPlugin(`new plugin.ServerlessEndpoint("one", { ${declared} }, { protect: true });`));
  await stack.preview("--expect-no-changes");
  // Fewer or other settings are changes.
  await stack.writeProgram(
    withPlugin(`new plugin.ServerlessEndpoint("one", { ${declared}, workersMax: 4 }, { protect: true });`),
  );
  expect((await stack.preview("--diff")).output).toMatch(/~ workersMax *: 5 => 4/);
  // The option does the same in a program.
  emulator.seed({ endpoints: [{ id: "def456", name: "another", gpuIds: "ADA_24", templateId: "tpl" }] });
  const other = `{ name: "another", gpuIds: ["ADA_24"], templateId: "tpl" }`;
  await stack.writeProgram(withPlugin(`new plugin.ServerlessEndpoint("two", ${other}, { import: "def456" });`));
  emulator.journal.clear();
  expect((await stack.run(["up", "--yes", "--skip-preview", "--target", "**two"])).output).toMatch(/1 imported/);
  expect(emulator.journal.operations()).not.toContain("saveEndpoint");
});

test("moving from the dynamic form to the plugin and back takes one update each and no write, and keeps the endpoint", async () => {
  const settings = `{ ${SETTINGS}, locations: ["RO", "CZ"], workersMax: 2 }`;
  const template = `{ imageName: "a:1", env: { HF_TOKEN: "secret-token" }, ports: ["8000/http"] }`;
  const dynamicType = "pulumi-nodejs:dynamic/serverless-gpu";
  const dynamic = (aliases: string) => `
const { ServerlessEndpoint, ServerlessTemplate } = require("pulumi-serverless-gpu");
const one = new ServerlessEndpoint("one", ${settings}, ${aliases.replaceAll("KIND", "ServerlessEndpoint")});
new ServerlessTemplate("one", ${template}, ${aliases.replaceAll("KIND", "ServerlessTemplate")});
exports.gpuIds = one.gpuIds;
`;
  const plugin = withPlugin(`
const one = new plugin.ServerlessEndpoint("one", ${settings}, { aliases: [{ type: "${dynamicType}:ServerlessEndpoint" }] });
new plugin.ServerlessTemplate("one", ${template}, { aliases: [{ type: "${dynamicType}:ServerlessTemplate" }] });
exports.gpuIds = one.gpuIds;
`);
  const stack = await createPluginStack("", emulator.env);
  await stack.writeProgram(dynamic("{}"));
  await stack.up();
  const [before] = emulator.endpoints.list();
  emulator.journal.clear();

  await stack.writeProgram(plugin);
  const there = await stack.up();
  expect(there.output).toMatch(/~ 2 updated/);
  expect(await stack.outputs()).toEqual({ gpuIds: ["AMPERE_16", "AMPERE_24"] });
  await stack.preview("--expect-no-changes");

  await stack.writeProgram(dynamic(`{ aliases: [{ type: "serverless-gpu:index:KIND" }] }`));
  const back = await stack.up();
  expect(back.output).toMatch(/~ 2 updated/);
  expect(await stack.outputs()).toEqual({ gpuIds: "AMPERE_16,AMPERE_24" });
  await stack.preview("--expect-no-changes");
  expect(new Set(emulator.journal.operations())).toEqual(new Set(["myself"]));
  expect(emulator.endpoints.list()).toMatchObject([{ id: before?.id }]);
  const state = JSON.stringify(await stack.exportState());
  expect(state).not.toContain("secret-token");
  await stack.destroy();
  expect(emulator.endpoints.list()).toEqual([]);
});
