import { writeFile } from "node:fs/promises";
import path from "node:path";
import { createRulesStack, type Declared, FORMS, UP } from "../../faults/rules/stack";
import { startStandIn } from "../../faults/rules/standIn";

const COMMAND = path.resolve(__dirname, "../../../dist/cli/main.js");

const RESOURCES: readonly Declared[] = [
  { is: "ServerlessTemplate", name: "first", args: { name: "first", imageName: "me/app:1" } },
  {
    is: "NetworkVolume",
    name: "second",
    args: { name: "second", size: 10, dataCenterId: "EU-RO-1" },
    options: { deletedWith: "first" },
  },
];

test.each(FORMS)("doctor and check name what stays because of deletedWith, with the %s form", async (form) => {
  await using standIn = await startStandIn();
  const stack = await createRulesStack(standIn, { form, api: "graphql" });
  await stack.declare(RESOURCES);
  expect((await stack.run(UP)).output).not.toMatch(/error:/);
  const [id = ""] = standIn.account.records.volume.keys();
  const doctor = await stack.pulumi.exec(process.execPath, [COMMAND, "doctor"]);
  expect(doctor.output).toContain("deletedWith");
  expect(doctor.output).toMatch(new RegExp(`${id}|second`));
  await stack.declare([]);
  const { stdout } = await stack.run(["preview", "--json", "--show-sames"]);
  await writeFile(path.join(stack.pulumi.folder, "preview.json"), stdout);
  const checked = await stack.pulumi.exec(process.execPath, [COMMAND, "check", "preview.json"]);
  expect(checked.output).toContain("deletedWith");
  expect(checked.output).toMatch(new RegExp(`${id}|second`));
});
