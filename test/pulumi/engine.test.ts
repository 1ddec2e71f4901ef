import { createStack } from "./harness";

const THING = `
const pulumi = require("@pulumi/pulumi");
const provider = { create: async ({ value }) => ({ id: "thing-1", outs: { doubled: value * 2 } }) };
class Thing extends pulumi.dynamic.Resource {
  constructor(name, props) {
    super(provider, name, { doubled: undefined, ...props });
  }
}
`;

test("a program goes up, is unchanged in a preview, and is destroyed", async () => {
  const stack = await createStack({ program: `${THING} exports.doubled = new Thing("thing", { value: 21 }).doubled;` });

  await stack.up();
  expect(await stack.outputs()).toEqual({ doubled: 42 });
  await stack.preview("--expect-no-changes");
  await stack.destroy();

  expect((await stack.exportState()).deployment.resources ?? []).toEqual([]);
});
