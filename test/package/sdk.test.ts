import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

const REPOSITORY = path.resolve(__dirname, "../..");
const BIN = path.join(REPOSITORY, "node_modules/.bin");

/** An empty project into which the packed package was installed, as a user does who has no Pulumi. */
let project: string;
let tarball: string;

const run = (file: string, args: readonly string[], cwd = project) => promisify(execFile)(file, args, { cwd });

beforeAll(async () => {
  project = await mkdtemp(path.join(tmpdir(), "serverless-gpu-package-"));
  await run("npm", ["pack", "--ignore-scripts", "--pack-destination", project], REPOSITORY);
  tarball = path.join(project, (await readdir(project)).find((name) => name.endsWith(".tgz")) ?? "");
  await writeFile(path.join(project, "package.json"), '{ "private": true }');
  const flags = ["--ignore-scripts", "--omit=peer", "--prefer-offline", "--no-audit", "--no-fund"];
  await run("npm", ["install", ...flags, tarball]);
}, 180_000);

afterAll(() => rm(project, { recursive: true, force: true }));

const PROGRAM = `
  const emulator = await startEmulator({ coldStartMs: 0 });
  const client = createClient({ ...settingsFromEnvironment(emulator.env) });
  const { id } = await client.endpoints.create({ name: "a", gpuIds: "AMPERE_16", templateId: "t", workersMin: 1 });
  const { output } = await client.endpoint(id).runSync({ input: { hello: "world" } });
  const error = await client.pods.get("nowhere").catch((error) => error);
  console.log(JSON.stringify([output, error instanceof NotFoundError, typeof SubmitUncertainError]));
  await client.close();
  await emulator.stop();
`;
const SDK_NAMES = "{ createClient, NotFoundError, settingsFromEnvironment, SubmitUncertainError }";
const EXPECTED = [{ hello: "world" }, true, "function"];

describe("the packed package, installed without Pulumi", () => {
  test("brings no Pulumi along", async () => {
    expect(await readdir(path.join(project, "node_modules"))).not.toContain("@pulumi");
  });

  test("has a client that works by require", async () => {
    const program = `
      const ${SDK_NAMES} = require("pulumi-serverless-gpu/sdk");
      const { startEmulator } = require("pulumi-serverless-gpu/emulator");
      (async () => {${PROGRAM}})();`;
    await writeFile(path.join(project, "program.cjs"), program);
    expect(JSON.parse((await run("node", ["program.cjs"])).stdout)).toEqual(EXPECTED);
  }, 60_000);

  test("has a client that works by import", async () => {
    const program = `
      import ${SDK_NAMES} from "pulumi-serverless-gpu/sdk";
      import { startEmulator } from "pulumi-serverless-gpu/emulator";
      ${PROGRAM}`;
    await writeFile(path.join(project, "program.mjs"), program);
    expect(JSON.parse((await run("node", ["program.mjs"])).stdout)).toEqual(EXPECTED);
  }, 60_000);

  test.each([
    ["node20", "node16", "mts"],
    ["commonjs", "bundler", "ts"],
    ["commonjs", "node10", "ts"],
  ])(
    "has types for programs with module %s and moduleResolution %s",
    async (module, moduleResolution, extension) => {
      const program = `
      import { createClient, isCompleted, type Job, type JobHandle } from "pulumi-serverless-gpu/sdk";
      const client = createClient({ apiKey: "k", service: "runpod" });
      export async function story(): Promise<string> {
        const schema = { parse: (value: unknown) => value as { text: string } };
        const job: JobHandle<{ text: string }> = await client.endpoint("a").run({ input: {} }, { schema });
        const read: Job = await job.status();
        // @ts-expect-error: the output of a job that was only read is unknown
        if (isCompleted(read)) return read.output.text;
        return (await job.wait({ timeoutMs: 1000, onAbort: "cancel" })).output.text;
      }
      // @ts-expect-error: a job has an input
      client.endpoint("a").run({ webhook: "https://example.com" });`;
      await writeFile(path.join(project, `program.${extension}`), program);
      const options = ["--noEmit", "--strict", "--target", "es2022", "--lib", "es2023", "--ignoreDeprecations", "6.0"];
      const types = ["--typeRoots", path.join(REPOSITORY, "node_modules/@types"), "--types", "node", "--skipLibCheck"];
      const resolution = ["--module", module, "--moduleResolution", moduleResolution];
      await run(path.join(BIN, "tsc"), [...options, ...types, ...resolution, `program.${extension}`]);
    },
    60_000,
  );

  test("is clean for publint", async () => {
    const { stdout } = await run(path.join(BIN, "publint"), ["run", tarball, "--strict"]);
    expect(stdout).toContain("All good!");
  }, 60_000);

  test("has types that resolve everywhere, for attw", async () => {
    const { stdout } = await run(path.join(BIN, "attw"), [tarball]);
    expect(stdout).toContain("No problems found");
  }, 60_000);
});
