import {
  createRulesStack,
  DESTROY,
  type Declared,
  EVERYWHERE,
  placesOr,
  REFRESH,
  rowsFor,
  signal,
  UP,
} from "../../faults/rules/stack";
import { startStandIn } from "../../faults/rules/standIn";

const ROLL_OUT = {
  test: { input: { prompt: "x" }, expectedOutput: { text: "right" }, timeout: 20 },
  timeout: 60,
};

const endpoint = (args: Readonly<Record<string, unknown>>): Declared => ({
  is: "ServerlessEndpoint",
  name: "served",
  args: { name: "served", gpuIds: "AMPERE_24", ...args },
});

describe.each(EVERYWHERE)("with the $form form over $api", (where) => {
  test.each(
    rowsFor(where, [
      ["without a refresh", false],
      ["recorded by a refresh", true],
    ] as const),
  )("a failed rollout restores what served right before it, %s", async (_title, isRefreshed) => {
    await using standIn = await startStandIn();
    const stack = await createRulesStack(standIn, where);
    const program = (imageName: string) =>
      endpoint({ imageName, env: { MODE: "program" }, rollOut: ROLL_OUT, workersMax: 2 });
    await stack.declare([program("me/app:1")]);
    expect((await stack.run(UP)).output).not.toMatch(/error:/);
    const [held] = standIn.account.records.endpoint.values();
    if (!held) throw new Error("there is no endpoint");
    standIn.account.bindContainer(held, { imageName: "me/app:hotfix", env: { MODE: "hotfix" } });
    const before = standIn.account.settings("endpoint", held.id);
    if (isRefreshed) await stack.run(REFRESH);
    await stack.declare([program("me/app-bad:2")]);
    const failed = await stack.run(UP);
    expect(failed.exitCode).not.toBe(0);
    expect(standIn.account.settings("endpoint", held.id)).toEqual(before);
  });
});

test.each(
  placesOr("npm"),
)("with the $form form over $api, an interrupted deletion's note does not switch on an endpoint that was switched off later on purpose", async (where) => {
  await using standIn = await startStandIn();
  const stack = await createRulesStack(standIn, where);
  await stack.declare([endpoint({ imageName: "me/app:1" })]);
  expect((await stack.run(UP)).output).not.toMatch(/error:/);
  const [held] = standIn.account.records.endpoint.values();
  if (!held) throw new Error("there is no endpoint");
  standIn.begin({
    async after({ write }) {
      if (write !== "change") return undefined;
      await signal(stack, "engine", "SIGKILL");
      await signal(stack, "provider", "SIGKILL");
      return "drop";
    },
  });
  await stack.run(DESTROY);
  expect(held).toMatchObject({ workersMin: 0, workersMax: 0 });
  await stack.run(["cancel", "--yes"]);
  standIn.begin();
  // Somebody restores it, a refresh on another machine records that, and then it is switched off.
  held.workersMax = 4;
  await stack.run(REFRESH, { machine: "two" });
  held.workersMax = 0;
  await stack.run(REFRESH, { machine: "two" });
  await stack.run(UP);
  expect(held).toMatchObject({ workersMin: 0, workersMax: 0 });
});
