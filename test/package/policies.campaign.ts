import { rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { DEVELOPED_WITH, type InstalledProject, installProject } from "./installed";
import { createFolder, install } from "./packed";

jest.setTimeout(300_000);

/** A pack that reports every input of every endpoint. */
const PACK = `
  import { PolicyPack } from "@pulumi/policy";
  new PolicyPack("gpu", {
    policies: [{
      name: "inputs",
      description: "No endpoint is allowed.",
      enforcementLevel: "mandatory",
      validateResource: ({ type, props }, report) => {
        if (type.endsWith(":ServerlessEndpoint")) report(JSON.stringify({ ...props, name: "hidden" }));
      },
    }],
  });`;

let project: InstalledProject;
let pack: string;

beforeAll(async () => {
  [project, pack] = await Promise.all([installProject("npm", DEVELOPED_WITH), createFolder()]);
  await writeFile(path.join(pack, "PulumiPolicy.yaml"), "runtime: nodejs\nmain: index.ts\n");
  await writeFile(path.join(pack, "index.ts"), PACK);
});

afterAll(async () => {
  await project?.dispose();
  await rm(pack, { recursive: true, force: true });
});

const preview = () => project.run("pulumi", "preview", "--non-interactive", "--policy-pack", pack);

test("a policy pack without its packages is refused with what to do", async () => {
  await expect(preview()).rejects.toThrow(/dependencies are not installed; try running npm install/);
});

test("a policy pack runs in a preview, and gets the inputs that the program sets, without defaults", async () => {
  const { typescript = "" } = DEVELOPED_WITH;
  await install("npm", pack, { "@pulumi/policy": "1.21.0", typescript });
  await expect(preview()).rejects.toThrow(`{"gpuIds":"AMPERE_24","name":"hidden","templateId":"t","workersMax":2}`);
  expect(project.emulator.endpoints.list()).toEqual([]);
});
