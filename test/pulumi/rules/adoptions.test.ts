import { createRulesStack, type Declared, placesOr, signal, UP } from "../../faults/rules/stack";
import { type Request, startStandIn } from "../../faults/rules/standIn";

const ROLL_OUT = {
  test: { input: { prompt: "x" }, expectedOutput: { text: "right" }, timeout: 20 },
  timeout: 60,
};

const endpoint = (args: Readonly<Record<string, unknown>>): Declared => ({
  is: "ServerlessEndpoint",
  name: "served",
  args: { name: "served", gpuIds: "AMPERE_24", workersMax: 2, ...args },
});

const kill = (stack: Awaited<ReturnType<typeof createRulesStack>>, at: (request: Request) => boolean) => {
  let isDone = false;
  return {
    async after(request: Request) {
      if (isDone || !at(request)) return undefined;
      isDone = true;
      await signal(stack, "engine", "SIGKILL");
      await signal(stack, "provider", "SIGKILL");
      return "drop" as const;
    },
  };
};

test.each(
  placesOr("plugin"),
)("with the $form form over $api, a killed adoption is named by the next run, even if the program was reverted", async (where) => {
  await using standIn = await startStandIn();
  const stack = await createRulesStack(standIn, where);
  const { account } = standIn;
  const [first, second] = [1, 2].map((n) => account.addTemplate({ name: `t${n}`, imageName: `me/app:${n}` }));
  // Over GraphQL, the endpoint is linked to a template. Over REST v2, it has its own container.
  const isLinked = where.api === "graphql";
  const held = account.addEndpoint(
    { name: "served", gpuIds: "AMPERE_24", workersMax: 2, ...(isLinked && { templateId: first?.id ?? "" }) },
    isLinked ? undefined : { imageName: "me/app:1" },
  );
  const changed = isLinked ? { templateId: second?.id } : { imageName: "me/app:2", rollOut: ROLL_OUT };
  const other: Declared = { is: "ServerlessTemplate", name: "other", args: { name: "other", imageName: "me/app:9" } };
  await stack.declare([other]);
  expect((await stack.run(UP)).output).not.toMatch(/error:/);
  await stack.declare([other, endpoint({ adoptId: held.id, ...changed })]);
  standIn.begin(kill(stack, () => account.containerOf(held).imageName === "me/app:2"));
  await stack.run(UP);
  expect(account.containerOf(held).imageName).toBe("me/app:2");
  await stack.run(["cancel", "--yes"]);
  standIn.begin();
  await stack.declare([{ ...other, args: { ...other.args, imageName: "me/app:10" } }]);
  const reverted = await stack.run(UP);
  const { imageName } = account.containerOf(held);
  if (imageName !== "me/app:1") expect(reverted.output).toContain(held.id);
});

test.each(
  placesOr("npm"),
)("with the $form form over $api, the advice after a killed replacement can be followed", async (where) => {
  await using standIn = await startStandIn();
  const stack = await createRulesStack(standIn, where);
  await stack.declare([endpoint({ imageName: "me/app:1" })]);
  expect((await stack.run(UP)).output).not.toMatch(/error:/);
  standIn.begin(kill(stack, ({ write }) => write === "create"));
  await stack.run([...UP, "--replace", "**::served"]);
  await stack.run(["cancel", "--yes"]);
  standIn.begin();
  const next = await stack.run(UP);
  const ids = [...standIn.account.records.endpoint.keys()];
  const advised = /adoptId(?::| to) "?(\w+)/.exec(next.output)?.[1];
  if (next.exitCode === 0 || !advised) {
    expect(ids).toHaveLength(1);
    return;
  }
  await stack.declare([endpoint({ imageName: "me/app:1", adoptId: advised })]);
  const followed = await stack.run(UP);
  expect(followed.output).not.toMatch(/error:/);
  expect(standIn.account.records.endpoint.has(advised)).toBe(true);
});

test.each(
  placesOr("plugin"),
)("with the $form form over $api, a record that another resource of the program takes over is not called released", async (where) => {
  await using standIn = await startStandIn();
  const stack = await createRulesStack(standIn, where);
  const held = standIn.account.addEndpoint(
    { name: "served", gpuIds: "AMPERE_24", workersMax: 6 },
    { imageName: "me/app:1" },
  );
  const adopting = { ...endpoint({ imageName: "me/app:1", adoptId: held.id }) };
  await stack.declare([adopting]);
  const adopted = await stack.run(UP);
  expect(adopted.output).toContain(`adopted endpoint ${held.id}; changed workersMax 6 → 2\n`);
  await stack.declare([{ ...adopting, name: "renamed" }]);
  const renamed = await stack.run(UP);
  expect(renamed).toMatchObject({ exitCode: 0, output: expect.not.stringContaining("is released") });
  expect(renamed.output).toContain(`${held.id} is not deleted, because another resource in the program has adopted it`);
  const replaced = await stack.run([...UP, "--replace", "**::renamed"]);
  expect(replaced).toMatchObject({ exitCode: 0, output: expect.not.stringContaining("is released") });
  expect(standIn.account.records.endpoint.has(held.id)).toBe(true);
  await stack.declare([]);
  expect((await stack.run(UP)).output).toContain(`endpoint ${held.id} is released, not deleted`);
});
