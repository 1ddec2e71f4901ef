import { type Emulator, startEmulator } from "../../emulator";
import { createStack, type PulumiStack } from "../pulumi/harness";
import { API_ENV, either } from "./campaignApi";
import { crash, type Moment, unlock, type Victim } from "./crash";
import { once } from "./progress";

const VICTIMS: readonly Victim[] = ["engine", "provider"];

const writing = (save: string): readonly Moment[] => [
  { step: "list", when: "before", operation: either("myself", "listEndpoints") },
  { step: "save", when: "before", operation: save, held: 2 },
  { step: "save", when: "after", operation: save, held: 2 },
];

const DELETING: readonly Moment[] = [
  { step: "list", when: "before", position: 1 },
  { step: "save", when: "before", position: 2 },
  { step: "save", when: "after", position: 2 },
  ...either<readonly Moment[]>([], [{ step: "workers", when: "before", position: 3 }]),
  { step: "delete", when: "before", position: either(3, 4) },
  { step: "delete", when: "after", position: either(3, 4) },
  { step: "list proof", when: "before", position: either(4, 5) },
];

const scenarios = (moments: readonly Moment[]) =>
  moments.flatMap((moment) =>
    VICTIMS.map((victim) => [`${moment.when} ${moment.step}, kill -9 of the ${victim}`, moment, victim] as const),
  );

const ONE = { gpuIds: "AMPERE_24", templateId: "template", workersMax: 1 };

const program = (resources: Readonly<Record<string, object>>) => `
const { ServerlessEndpoint } = require("pulumi-serverless-gpu");
for (const [name, args] of Object.entries(${JSON.stringify(resources)})) new ServerlessEndpoint(name, args);
`;

describe("create", () => {
  test.concurrent.each(scenarios(writing(either("saveEndpoint", "createEndpoint"))))(
    "%s",
    once("crashes", "create", async (_title, moment, victim) => {
      await using emulator = await startEmulator({ profile: "contract", drainMs: 0 });
      const stack = await createStack({
        program: program({ one: ONE, two: ONE }),
        env: { ...emulator.env, ...API_ENV },
      });
      await stack.setConfig({ "serverless-gpu:namespace": "crashes" });
      await crash(stack, emulator, moment, victim, "up");
      await unlock(stack);
      const made = idsOf(emulator);
      expect(made).toHaveLength(moment.when === "after" ? 2 : 0);

      // What an interrupted run has left is never taken for this resource's by its name: it is
      // refused, and adopted as the error advises.
      await stack.writeProgram(program(await adoptAsTold(stack, emulator, made.length > 0)));
      await stack.up();
      expect(emulator.endpoints.list()).toHaveLength(2);
      if (made.length > 0) expect(idsOf(emulator)).toEqual(made);
      await stack.preview("--refresh", "--expect-no-changes");
      // Without adoptId, the endpoints are the stack's own, and destroy deletes them.
      await stack.writeProgram(program({ one: ONE, two: ONE }));
      await stack.up();
      await stack.destroy();
      expect(emulator.endpoints.list()).toEqual([]);
    }),
  );
});

async function adoptAsTold(stack: PulumiStack, emulator: Emulator, isRefused: boolean) {
  const resources: Record<string, object> = { one: ONE, two: ONE };
  if (!isRefused) return resources;
  const refused = await stack.run(["up", "--yes", "--skip-preview", "--continue-on-error"]);
  expect(refused.exitCode).not.toBe(0);
  for (const { id, name } of emulator.endpoints.list()) {
    expect(refused.output).toContain(`adoptId to "${id}"`);
    resources[name.split("-")[0] ?? ""] = { ...ONE, adoptId: id };
  }
  return resources;
}

describe("update", () => {
  test.concurrent.each(scenarios(writing(either("saveEndpoint", "updateEndpoint"))))(
    "%s",
    once("crashes", "update", async (_title, moment, victim) => {
      await using emulator = await startEmulator({ profile: "contract", drainMs: 0 });
      const stack = await createStack({
        program: program({ one: ONE, two: ONE }),
        env: { ...emulator.env, ...API_ENV },
      });
      await stack.up();
      const ids = idsOf(emulator);
      for (const id of ids) emulator.endpoints.change(id, { idleTimeout: 77, networkVolumeId: "volume" });
      const changed = { ...ONE, workersMax: 2, locations: "CZ" };
      await stack.writeProgram(program({ one: changed, two: changed }));
      await crash(stack, emulator, moment, victim, "up");
      await unlock(stack);

      await stack.up();
      expect(idsOf(emulator)).toEqual(ids);
      for (const endpoint of emulator.endpoints.list()) {
        expect(endpoint).toMatchObject({
          workersMax: 2,
          locations: either("CZ", "EU-CZ-1"),
          idleTimeout: 77,
          networkVolumeId: "volume",
        });
      }
      await stack.preview("--refresh", "--expect-no-changes");
      await stack.destroy();
      expect(emulator.endpoints.list()).toEqual([]);
    }),
  );
});

describe("delete", () => {
  test.concurrent.each(scenarios(DELETING))(
    "%s",
    once("crashes", "delete", async (_title, moment, victim) => {
      await using emulator = await startEmulator({ profile: "contract", drainMs: 0 });
      const stack = await createStack({ program: program({ one: ONE }), env: { ...emulator.env, ...API_ENV } });
      await stack.up();
      await crash(stack, emulator, moment, victim, "destroy");
      await unlock(stack);

      await stack.destroy();
      expect(emulator.endpoints.list()).toEqual([]);
      expect((await stack.exportState()).deployment.resources ?? []).toEqual([]);
    }),
  );
});

const idsOf = (emulator: Emulator) => emulator.endpoints.list().map(({ id }) => id);
