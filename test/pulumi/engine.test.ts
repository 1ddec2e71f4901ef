import { setTimeout as sleep } from "node:timers/promises";
import { createStack } from "./harness";
import { processesIn } from "./processes";

/** A dynamic resource that doubles a value. */
const THING = `
const pulumi = require("@pulumi/pulumi");
const provider = {
  create: async ({ value }) => ({ id: "thing-1", outs: { doubled: value * 2 } }),
  update: async (id, olds, { value }) => ({ outs: { doubled: value * 2 } }),
};
class Thing extends pulumi.dynamic.Resource {
  constructor(name, props) {
    super(provider, name, { doubled: undefined, ...props });
  }
}
`;

test("a program is applied, shows no changes in a preview, and is destroyed", async () => {
  const stack = await createStack({ program: `${THING} exports.doubled = new Thing("thing", { value: 21 }).doubled;` });

  await stack.up();
  expect(await stack.outputs()).toEqual({ doubled: 42 });
  await stack.preview("--expect-no-changes");
  await stack.destroy();

  expect((await stack.exportState()).deployment.resources ?? []).toEqual([]);
});

test("a preview that expects no changes exits with code 7 when the program has changed", async () => {
  const stack = await createStack({ program: `${THING} new Thing("thing", { value: 1 });` });
  await stack.up();
  await stack.writeProgram(`${THING} new Thing("thing", { value: 2 });`);
  expect((await stack.run(["preview", "--expect-no-changes"])).exitCode).toBe(7);
});

test("a program can read its config, and a secret stays secret", async () => {
  const program = `
    const pulumi = require("@pulumi/pulumi");
    const config = new pulumi.Config();
    exports.plain = config.require("plain");
    exports.hidden = config.requireSecret("hidden");`;
  const stack = await createStack({ program });
  await stack.setConfig({ plain: "shown" });
  await stack.setConfig({ hidden: "canary-5c1f" }, { secret: true });
  const { output } = await stack.up();

  expect(output).toContain("shown");
  expect(output).not.toContain("canary-5c1f");
  expect(await stack.outputs()).toEqual({ plain: "shown", hidden: "canary-5c1f" });
  const files = [...(await stack.files()).values()];
  expect(files.some((text) => text.includes("shown"))).toBe(true);
  expect(files.some((text) => text.includes("canary-5c1f"))).toBe(false);
});

test("a program that throws fails once with its own error and without a message about the language host", async () => {
  // Without the frames of @pulumi/pulumi: Node 20 needs half a minute to color them
  // (nodejs/node#64011).
  const program = `Error.stackTraceLimit = 3; throw new Error("out of paper");`;
  const stack = await createStack({ program });
  const { exitCode, output } = await stack.run(["up", "--yes", "--skip-preview", "--suppress-progress"]);
  expect(exitCode).not.toBe(0);
  expect(output.slice(output.indexOf("Diagnostics:")).match(/out of paper/g)).toHaveLength(1);
  expect(output).not.toContain("exited with");
});

test("a program that exits on its own fails with its exit code", async () => {
  const stack = await createStack({ program: "process.exit(3);" });
  const { exitCode, output } = await stack.run(["up", "--yes", "--skip-preview"]);
  expect(exitCode).not.toBe(0);
  expect(output).toContain("the program exited with code 3");
});

test("a TypeScript program is type-checked and runs without warnings", async () => {
  const program = (value: string) => `
    import * as pulumi from "@pulumi/pulumi";
    const value: number = ${value};
    export const doubled: pulumi.Output<number> = pulumi.output(value * 2);`;
  const stack = await createStack({ program: program("21"), typescript: true });
  expect((await stack.up()).output).not.toMatch(/warn/i);
  expect(await stack.outputs()).toEqual({ doubled: 42 });

  await stack.writeProgram(program(`"21"`), "index.ts");
  expect((await stack.run(["preview"])).output).toContain("index.ts(3,11): error TS2322");
});

/** Tests on systems where the processes of a folder are known. */
const testOnLinux = process.platform === "linux" ? test : test.skip;

testOnLinux("nothing that a stack has started outlives it, even when the engine is killed", async () => {
  const program = `
    const pulumi = require("@pulumi/pulumi");
    const provider = { create: () => new Promise((resolve) => setTimeout(resolve, 600_000)) };
    new pulumi.dynamic.Resource(provider, "thing", {});`;
  const stack = await createStack({ program });
  const ended = stack.run(["up", "--yes", "--skip-preview"]);
  const find = async (name: string) => (await stack.processes()).find(({ command }) => command.includes(name));
  while (!(await find("pulumi-resource-pulumi-nodejs"))) await sleep(100);
  const engine = await find("pulumi up");
  process.kill(engine?.pid ?? Number.NaN, "SIGKILL");
  expect((await ended).exitCode).toBeNull();

  await stack.dispose();
  expect(await processesIn(stack.scratch)).toEqual([]);
  await expect(stack.files()).rejects.toThrow("ENOENT");
});
