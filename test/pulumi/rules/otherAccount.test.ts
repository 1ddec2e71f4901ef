import { createRulesStack, type Declared, EVERYWHERE, rowsFor, UP } from "../../faults/rules/stack";
import { startStandIn } from "../../faults/rules/standIn";

const KEYS = { "key-a": "aaa", "key-b": "bbb" };
const template = (name: string): Declared => ({
  is: "ServerlessTemplate",
  name,
  args: { name, imageName: "me/app:1" },
});
const volume = (name: string): Declared => ({
  is: "NetworkVolume",
  name,
  args: { name, size: 10, dataCenterId: "EU-RO-1" },
});

describe.each(EVERYWHERE)("with the $form form over $api", (where) => {
  test.each(
    rowsFor(where, ["SERVERLESS_GPU_ACCOUNT", "config"]),
  )("a key of another account creates nothing if %s names the account", async (setting) => {
    await using standIn = await startStandIn(KEYS);
    const stack = await createRulesStack(standIn, where);
    await stack.declare([template("old")]);
    expect((await stack.run(UP)).output).not.toMatch(/error:/);
    if (setting === "config") await stack.pulumi.setConfig({ "serverless-gpu:account": "aaa" });
    await stack.declare([template("new"), volume("new-too"), template("old")]);
    const wrong = {
      SERVERLESS_GPU_API_KEY: "key-b",
      ...(setting !== "config" && { SERVERLESS_GPU_ACCOUNT: "aaa" }),
    };
    const refused = await stack.run([...UP, "--continue-on-error"], { env: wrong });
    expect(refused.exitCode).not.toBe(0);
    const { bbb } = standIn.accounts;
    expect([bbb?.records.template.size, bbb?.records.volume.size]).toEqual([0, 0]);
    // GraphQL tells which account it is.
    expect(refused.output).toContain("aaa");
  });

  test("a run that has met a record of another account creates nothing more", async () => {
    await using standIn = await startStandIn(KEYS);
    const stack = await createRulesStack(standIn, where);
    await stack.declare([template("old")]);
    expect((await stack.run(UP)).output).not.toMatch(/error:/);
    const changed = { ...template("old"), args: { name: "old", imageName: "me/app:2" } };
    const late: Declared = { ...volume("late"), args: { ...volume("late").args, name: { $later: "late" } } };
    await stack.declare([changed, late]);
    await stack.run([...UP, "--continue-on-error"], { env: { SERVERLESS_GPU_API_KEY: "key-b" } });
    expect(standIn.accounts.bbb?.records.volume.size).toBe(0);
  });
});
