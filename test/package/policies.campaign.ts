import { rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { codeBlocks } from "../docs/markdown";
import { DEVELOPED_WITH, type InstalledProject, installProject } from "./installed";
import { createFolder, install, packInto } from "./packed";

jest.setTimeout(300_000);

/** A pack that reports every input of every endpoint. */
const PACK = `
  import { PolicyPack, validateResourceOfType } from "@pulumi/policy";
  import { ServerlessEndpoint } from "pulumi-serverless-gpu";
  new PolicyPack("gpu", {
    policies: [{
      name: "inputs",
      description: "No endpoint is allowed.",
      enforcementLevel: "mandatory",
      validateResource: validateResourceOfType(ServerlessEndpoint, (props, args, report) =>
        report(JSON.stringify({ ...props, name: "hidden" })),
      ),
    }],
  });`;

/** The pack of the page, with a limit that the program does not keep. */
function packOfPage(): string {
  const blocks = codeBlocks("docs/how-to/test-with-the-emulator.md");
  return blocks.find(({ text }) => text.includes("new PolicyPack"))?.text.replace("> 5", "> 1") ?? "";
}

let project: InstalledProject;
let pack: string;

beforeAll(async () => {
  [project, pack] = await Promise.all([installProject("npm", DEVELOPED_WITH), createFolder()]);
  await writeFile(path.join(pack, "PulumiPolicy.yaml"), "runtime: nodejs\nmain: index.ts\n");
  await writeFile(path.join(pack, "index.ts"), packOfPage());
});

afterAll(async () => {
  await project?.dispose();
  await rm(pack, { recursive: true, force: true });
});

const preview = () => project.run("pulumi", "preview", "--non-interactive", "--policy-pack", pack);

test("a policy pack without its packages is refused with what to do", async () => {
  await expect(preview()).rejects.toThrow(/dependencies are not installed; try running npm install/);
});

test("the pack of the page runs in a preview, and a policy gets the inputs that the program sets, without defaults", async () => {
  const { typescript = "" } = DEVELOPED_WITH;
  const own = `file:${await packInto(pack)}`;
  await install("npm", pack, { "@pulumi/policy": "1.21.0", typescript, "pulumi-serverless-gpu": own });
  await expect(preview()).rejects.toThrow(/\[mandatory\] +workers-max .*workersMax is 2\./s);
  await writeFile(path.join(pack, "index.ts"), PACK);
  await expect(preview()).rejects.toThrow(`{"gpuIds":"AMPERE_24","name":"hidden","templateId":"t","workersMax":2}`);
  expect(project.emulator.endpoints.list()).toEqual([]);
});
