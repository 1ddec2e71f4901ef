import { createRulesStack, type Declared, EVERYWHERE, UP } from "../../faults/rules/stack";
import { startStandIn } from "../../faults/rules/standIn";

const endpoint = (idleTimeout: number, ignoreChanges: readonly string[] = []): Declared => ({
  is: "ServerlessEndpoint",
  name: "endpoint",
  args: {
    name: "endpoint",
    gpuIds: "AMPERE_24",
    imageName: "me/app:1",
    env: { MODE: "program", OTHER: "x" },
    workersMax: 3,
    idleTimeout,
  },
  options: { ignoreChanges },
});

describe.each(EVERYWHERE)("with the $form form over $api", (where) => {
  test.each([
    "workersMax",
    "gpuIds",
    "env",
  ] as const)("an up that changes another field leaves what the console set for the ignored field %s", async (field) => {
    await using standIn = await startStandIn();
    const stack = await createRulesStack(standIn, where);
    await stack.declare([endpoint(20)]);
    expect(await stack.run(UP)).toMatchObject({ exitCode: 0 });
    const [held] = standIn.account.records.endpoint.values();
    if (!held) throw new Error("there is no endpoint");
    if (field === "env") standIn.account.bindContainer(held, { env: { MODE: "console", MORE: "y" } });
    else Object.assign(held, field === "gpuIds" ? { gpuIds: "ADA_24" } : { workersMax: 7 });
    const before = standIn.account.settings("endpoint", held.id);
    await stack.declare([endpoint(30, [field])]);
    expect(await stack.run(UP)).toMatchObject({ exitCode: 0 });
    expect(standIn.account.settings("endpoint", held.id)).toEqual({ ...before, idleTimeout: 30 });
  });

  test("a saved plan that changes another field leaves what the console set for an ignored field", async () => {
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

  test("an up that changes one field leaves what the console set for the other fields of the program", async () => {
    await using standIn = await startStandIn();
    const stack = await createRulesStack(standIn, where);
    await stack.declare([endpoint(20)]);
    expect(await stack.run(UP)).toMatchObject({ exitCode: 0 });
    const [held] = standIn.account.records.endpoint.values();
    if (!held) throw new Error("there is no endpoint");
    Object.assign(held, { workersMax: 7, gpuIds: "ADA_24", scalerValue: 9 });
    standIn.account.bindContainer(held, { env: { MODE: "console", MORE: "y" } });
    const before = standIn.account.settings("endpoint", held.id);
    await stack.declare([endpoint(30)]);
    expect(await stack.run(UP)).toMatchObject({ exitCode: 0 });
    expect(standIn.account.settings("endpoint", held.id)).toEqual({ ...before, idleTimeout: 30 });
    // Drift stays drift until a refresh shows it, and the next up repairs it.
    await stack.run([...UP, "--refresh"]);
    expect(held).toMatchObject({ workersMax: 3, gpuIds: "AMPERE_24", scalerValue: 9, idleTimeout: 30 });
    expect(standIn.account.containerOf(held).env).toEqual({ MODE: "program", OTHER: "x", MORE: "y" });
  });
});
