import { createRulesStack, type Declared, EVERYWHERE, placesOr, UP } from "../../faults/rules/stack";
import { startStandIn } from "../../faults/rules/standIn";

const endpoint = (idleTimeout: number, ignoreChanges: readonly string[] = [], name = "endpoint"): Declared => ({
  is: "ServerlessEndpoint",
  name,
  args: {
    name,
    gpuIds: "AMPERE_24",
    imageName: "me/app:1",
    env: { MODE: "program", OTHER: "x" },
    workersMax: 3,
    idleTimeout,
  },
  options: { ignoreChanges },
});

/** What the console sets for each field that a resource ignores, except for variables. */
const IGNORED = { workersMax: { workersMax: 7 }, gpuIds: { gpuIds: "ADA_24" }, env: {} };
const ALL = { ...IGNORED.workersMax, ...IGNORED.gpuIds };

test.each(
  EVERYWHERE,
)("with the $form form over $api, an up that changes one field leaves what the console set for ignored fields, and for the other fields of the program", async (where) => {
  await using standIn = await startStandIn();
  const { account } = standIn;
  const stack = await createRulesStack(standIn, where);
  const declared = (idleTimeout: number) => [
    ...Object.keys(IGNORED).map((field) => endpoint(idleTimeout, [field], field)),
    endpoint(idleTimeout, [], "all"),
  ];
  await stack.declare(declared(20).map(({ options: _, ...each }) => each));
  expect(await stack.run(UP)).toMatchObject({ exitCode: 0 });
  const held = Object.fromEntries([...account.records.endpoint.values()].map((each) => [each.name, each]));
  const consoleEnv = { env: { MODE: "console", MORE: "y" } };
  for (const [field, setting] of Object.entries({ ...IGNORED, all: { ...ALL, scalerValue: 9 } })) {
    const record = held[field];
    if (!record) throw new Error(`there is no endpoint ${field}`);
    Object.assign(record, setting);
    if (field === "env" || field === "all") account.bindContainer(record, consoleEnv);
  }
  const settings = () => Object.values(held).map(({ id }) => account.settings("endpoint", id));
  const before = settings();
  await stack.declare(declared(30));
  expect(await stack.run(UP)).toMatchObject({ exitCode: 0 });
  expect(settings()).toEqual(before.map((each) => ({ ...each, idleTimeout: 30 })));
  // Drift stays drift until a refresh shows it, and the next up repairs it.
  await stack.run([...UP, "--refresh"]);
  expect(held.all).toMatchObject({ workersMax: 3, gpuIds: "AMPERE_24", scalerValue: 9, idleTimeout: 30 });
  expect(account.containerOf(held.all as NonNullable<typeof held.all>).env).toEqual({
    MODE: "program",
    OTHER: "x",
    MORE: "y",
  });
});

test.each(
  placesOr("plugin"),
)("with the $form form over $api, a saved plan that changes another field leaves what the console set for an ignored field", async (where) => {
  await using standIn = await startStandIn();
  const stack = await createRulesStack(standIn, where);
  await stack.declare([endpoint(20)]);
  expect(await stack.run(UP)).toMatchObject({ exitCode: 0 });
  await stack.declare([endpoint(30, ["workersMax"])]);
  expect(await stack.run(["preview", "--save-plan", "plan.json"])).toMatchObject({ exitCode: 0 });
  const [held] = standIn.account.records.endpoint.values();
  if (!held) throw new Error("there is no endpoint");
  held.workersMax = 7;
  expect(await stack.run([...UP, "--plan", "plan.json"])).toMatchObject({ exitCode: 0 });
  expect(held).toMatchObject({ workersMax: 7, idleTimeout: 30 });
});
