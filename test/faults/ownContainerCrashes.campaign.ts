import { type Emulator, startEmulator } from "../../emulator";
import { createStack, type PulumiStack } from "../pulumi/harness";
import { API_ENV, either } from "./campaignApi";
import { at, crash, scenarios, unlock } from "./crash";
import { once } from "./progress";

const TOKEN = "env-canary-own-41d0";

const FIRST = { imageName: "me/llama:1", env: { HF_TOKEN: TOKEN, OLD: "1" }, workersMax: 1 };
const SECOND = { imageName: "me/llama:2", env: { HF_TOKEN: TOKEN, NEW: "2" }, workersMax: 2 };

const program = (args: object) => `
const { ServerlessEndpoint } = require("pulumi-serverless-gpu");
new ServerlessEndpoint("llama", { gpuIds: ["ADA_24"], ...${JSON.stringify(args)} });
`;

/** A service that keeps the templates of deleted endpoints leaves most to do. */
const start = () =>
  startEmulator({ profile: "observed", drainMs: 0, templateReleaseMs: 0, ...either({ keepBoundTemplates: true }, {}) });

const makeStack = (emulator: Emulator) =>
  createStack({ program: program(FIRST), env: { ...emulator.env, SERVERLESS_GPU_SERVICE: "runpod", ...API_ENV } });

/**
 * Returns the container of the only endpoint. Expects no template that belongs to no endpoint.
 */
function container({ endpoints, templates }: Emulator) {
  const [endpoint, ...others] = endpoints.list();
  const [template, ...leftOver] = templates.list();
  expect([others, leftOver]).toEqual([[], []]);
  expect(template?.boundEndpointId).toBe(endpoint?.id);
  return { ...template, env: Object.fromEntries(template?.env.map(({ key, value }) => [key, value]) ?? []) };
}

async function expectEnd(stack: PulumiStack, emulator: Emulator, output: string): Promise<void> {
  await stack.preview("--refresh", "--expect-no-changes");
  for (const shown of [output, JSON.stringify(await stack.exportState())]) expect(shown).not.toContain(TOKEN);
  await stack.destroy();
  expect([emulator.endpoints.list(), emulator.templates.list()]).toEqual([[], []]);
}

const CREATE = either("saveEndpoint", "createEndpoint");

describe("create", () => {
  test.concurrent.each(scenarios([...at(either("myself", "listEndpoints")), ...at(CREATE)]))(
    "%s",
    once("ownContainerCrashes", "create", async (_title, moment, victim) => {
      await using emulator = await start();
      const stack = await makeStack(emulator);
      await crash(stack, emulator, moment, victim, "up");
      await unlock(stack);
      const made = emulator.endpoints.list().map(({ id }) => id);
      expect(made).toHaveLength(Number(moment.operation === CREATE && moment.when === "after"));

      // The next program is another one.
      await stack.writeProgram(program(SECOND));
      const next = await stack.run(["up", "--yes", "--skip-preview"]);
      if (made[0] !== undefined) {
        expect(next.output).toContain(`set adoptId to "${made[0]}"`);
        await stack.writeProgram(program({ ...SECOND, adoptId: made[0] }));
        await stack.up();
        // Then it is the stack's own, and destroy deletes it.
        await stack.writeProgram(program(SECOND));
        await stack.up();
      } else {
        expect(next.exitCode).toBe(0);
      }
      const ids = emulator.endpoints.list().map(({ id }) => id);
      if (made.length > 0) expect(ids).toEqual(made);
      expect(container(emulator)).toMatchObject({ imageName: "me/llama:2" });
      // Whose variables an adopted endpoint has is not known.
      expect(container(emulator).env).toMatchObject(SECOND.env);
      await expectEnd(stack, emulator, next.output);
    }),
  );
});

const CHANGES = either(
  [...at("podTemplate"), ...at("saveTemplate"), ...at("saveEndpoint")],
  [...at("listEndpoints"), ...at("updateEndpoint")],
);

describe("change", () => {
  test.concurrent.each(scenarios(CHANGES))(
    "%s",
    once("ownContainerCrashes", "change", async (_title, moment, victim) => {
      await using emulator = await start();
      const stack = await makeStack(emulator);
      await stack.up();
      const ids = emulator.endpoints.list().map(({ id }) => id);
      await stack.writeProgram(program(SECOND));
      await crash(stack, emulator, moment, victim, "up");
      await unlock(stack);

      const { output } = await stack.up();
      expect(emulator.endpoints.list()).toMatchObject([{ id: ids[0], workersMax: 2 }]);
      expect(container(emulator)).toMatchObject({ imageName: "me/llama:2", env: SECOND.env });
      await expectEnd(stack, emulator, output);
    }),
  );
});

const DELETIONS = [
  ...at(either("saveEndpoint", "updateEndpoint")),
  ...at("deleteEndpoint"),
  ...either([...at("podTemplate"), ...at("deleteTemplate")], []),
];

describe("delete", () => {
  test.concurrent.each(scenarios(DELETIONS))(
    "%s",
    once("ownContainerCrashes", "delete", async (_title, moment, victim) => {
      await using emulator = await start();
      const stack = await makeStack(emulator);
      await stack.up();
      await crash(stack, emulator, moment, victim, "destroy");
      await unlock(stack);

      await stack.destroy();
      expect([emulator.endpoints.list(), emulator.templates.list()]).toEqual([[], []]);
      expect((await stack.exportState()).deployment.resources ?? []).toEqual([]);
    }),
  );

  test.concurrent.each(scenarios(DELETIONS))(
    "%s, then up again",
    once("ownContainerCrashes", "delete, then up", async (_title, moment, victim) => {
      await using emulator = await start();
      const stack = await makeStack(emulator);
      await stack.up();
      await crash(stack, emulator, moment, victim, "destroy");
      await unlock(stack);

      const { output } = await stack.up("--refresh");
      expect(emulator.endpoints.list()).toMatchObject([{ workersMax: 1 }]);
      expect(emulator.templates.list().filter(({ boundEndpointId }) => boundEndpointId)).not.toEqual([]);
      await stack.preview("--refresh", "--expect-no-changes");
      expect(output).not.toContain(TOKEN);
    }),
  );
});
