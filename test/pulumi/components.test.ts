import { startEmulator } from "../../emulator";
import { createStack } from "./harness";

const PROGRAM = `
const pulumi = require("@pulumi/pulumi");
const { ServerlessEndpoint, ServerlessGpuProvider, SmokeTest } = require("pulumi-serverless-gpu");

class Team extends pulumi.ComponentResource {
  constructor(name, options) {
    super("test:index:Team", name, {}, options);
    const common = { gpuIds: "AMPERE_16", templateId: "template" };
    const chat = new ServerlessEndpoint("chat", common, { parent: this });
    new ServerlessEndpoint("search", common, { parent: this });
    new SmokeTest("chat-answers", { endpointId: chat.endpointId, input: { prompt: "x" }, timeout: 20 }, { parent: this, dependsOn: chat });
  }
}

const url = process.env.ACCOUNT_URL;
const account = { apiKeyEnv: "ACCOUNT_KEY", graphqlUrl: url, restUrl: url, queueUrl: url };
new Team("team", { provider: new ServerlessGpuProvider("account", account) });
`;

test("endpoints of one component do not wait for each other, and use the component's provider", async () => {
  await using emulator = await startEmulator({ profile: "contract", drainMs: 0, coldStartMs: 0 });
  const stack = await createStack({
    program: PROGRAM,
    env: { ACCOUNT_URL: emulator.url, ACCOUNT_KEY: emulator.apiKey },
  });
  await stack.up();
  expect(
    emulator.endpoints
      .list()
      .map(({ name }) => name.replace(/-[0-9a-f]{7}$/, ""))
      .sort(),
  ).toEqual(["chat", "search"]);
  await stack.preview("--refresh", "--expect-no-changes");
  await stack.destroy();
  expect(emulator.endpoints.list()).toEqual([]);
});
