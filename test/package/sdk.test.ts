import { readFileSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import path from "node:path";
import { REPOSITORY } from "../support/sources";
import { BIN, createFolder, install, packInto, run, runProgram, SDK_EXPECTED, SDK_PROGRAMS } from "./packed";
import { checkTypes } from "./types";

/**
 * An empty project into which the packed package was installed, for a user without Pulumi.
 */
let project: string;
let tarball: string;

beforeAll(async () => {
  project = await createFolder();
  tarball = await packInto(project);
  await install("npm", project, { "pulumi-serverless-gpu": `file:${tarball}` }, ["--omit=peer"]);
}, 300_000);

afterAll(() => rm(project, { recursive: true, force: true }));

describe("the packed package, installed without Pulumi", () => {
  test("the packed package installs its eleven dependencies, without Pulumi, and nothing that it contains", async () => {
    const installed = await readdir(path.join(project, "node_modules"));
    expect(installed.filter((name) => !name.startsWith(".")).sort()).toEqual([
      "@opentelemetry",
      "bintrees",
      "commander",
      "croner",
      "graphql",
      "prom-client",
      "pulumi-serverless-gpu",
      "semver",
      "tdigest",
      "undici",
      "yaml",
      "zod",
    ]);
  });

  test.each(Object.entries(SDK_PROGRAMS))(
    "the packed package provides a working client: %s",
    async (name, text) => {
      expect(await runProgram(project, name, text)).toEqual(SDK_EXPECTED);
    },
    60_000,
  );

  test("the packed package provides types for every kind of program", async () => {
    const program = `
      import { createClient, isCompleted, type Job, type JobHandle } from "pulumi-serverless-gpu/sdk";
      import { startEmulator } from "pulumi-serverless-gpu/emulator";
      const client = createClient({ apiKey: "k", service: "runpod" });
      export async function story(): Promise<string> {
        const schema = { parse: (value: unknown) => value as { text: string } };
        const job: JobHandle<{ text: string }> = await client.endpoint("a").run({ input: { prompt: 1 } }, { schema });
        const read: Job = await job.status();
        // @ts-expect-error: the output of a job that was only read is unknown
        if (isCompleted(read)) return read.output.text;
        for await (const item of job.stream({ schema })) if (item.metrics) return item.output.text;
        return (await job.wait({ timeoutMs: 1000, onAbort: "cancel" })).output.text;
      }
      // @ts-expect-error: a job has an input
      client.endpoint("a").run({ webhook: "https://example.com" });
      export const url: Promise<string> = startEmulator({ profile: "contract", port: 0 }).then((emulator) => emulator.url);`;
    await checkTypes(project, program);
  }, 300_000);

  test("the packed package provides a client whose types need neither skipLibCheck nor DOM, and whose options all accept undefined", async () => {
    const program = `
      import type * as sdk from "pulumi-serverless-gpu/sdk";
      import { createClient } from "pulumi-serverless-gpu/sdk";
      /** The optional properties of a type whose value may not be undefined. */
      type Strict<T> = { [K in keyof T]-?: {} extends Pick<T, K> ? (undefined extends Required<T>[K] ? never : K) : never }[keyof T];
      type Allows<T> = [Strict<T>] extends [never] ? true : Strict<T>;
      type Options = [
        Allows<sdk.ClientOptions>, Allows<sdk.RequestOptions>, Allows<sdk.RetryPolicy>, Allows<sdk.RateLimitOptions>,
        Allows<sdk.EndpointInput>, Allows<sdk.EndpointChanges>, Allows<sdk.TemplateInput>, Allows<sdk.TemplateChanges>,
        Allows<sdk.VolumeInput>, Allows<sdk.VolumeChanges>, Allows<sdk.DeleteOptions>, Allows<sdk.DeleteUnusedOptions>,
        Allows<sdk.RecycleOptions>, Allows<sdk.FindOptions>, Allows<sdk.ListOptions>, Allows<sdk.KnownOptions>, Allows<sdk.PodIncludes>,
        Allows<sdk.CreateRecordOptions<sdk.Endpoint>>, Allows<sdk.UpdateRecordOptions<sdk.Endpoint>>,
        Allows<sdk.JobRequest>, Allows<sdk.JobPolicy>, Allows<sdk.S3Config>, Allows<sdk.RunOptions<unknown>>, Allows<sdk.RunSyncOptions<unknown>>,
        Allows<sdk.SubmitOptions>, Allows<sdk.JobOptions<unknown>>, Allows<sdk.WaitOptions>, Allows<sdk.OpenAiOptions<unknown>>,
        Allows<sdk.FetchOptions>, Allows<sdk.ScaleDownOptions>,
      ];
      export const allowed: true = null as never as Options[number];
      createClient({ apiKey: "k", service: undefined });`;
    await checkTypes(project, program, { skipLibCheck: false });
  }, 300_000);

  test("the packed package keeps function names in stack traces, and the traces point to readable lines", async () => {
    const program = `
      const { createClient } = require("pulumi-serverless-gpu/sdk");
      try { createClient({ apiKey: "" }); } catch (error) { console.log(JSON.stringify(error.stack)); }`;
    const stack = (await runProgram(project, "stack.cjs", program)) as string;
    const [, file = "", line] = /at checkClientOptions \((.+\.js):(\d+):\d+\)/.exec(stack) ?? [];
    expect(stack).toMatch(/^ConfigurationError: /);
    expect(readFileSync(file, "utf8").split("\n")[Number(line) - 1]).toMatch(/ = \w+\(\w+\);$/);
  });

  test("the packed package passes publint without findings", async () => {
    const { stdout } = await run(path.join(BIN, "publint"), ["run", tarball, "--strict"], { cwd: project });
    expect(stdout).toContain("All good!");
  }, 300_000);

  test("the packed package provides types that resolve in every module mode, according to Are the types wrong", async () => {
    // An ES module, which Jest cannot load.
    const program = `
      import { readFileSync } from "node:fs";
      import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
      const { types, problems } = await checkPackage(createPackageFromTarballData(readFileSync(process.argv[1])));
      console.log(JSON.stringify({ types: types.kind, problems }));`;
    const { stdout } = await run("node", ["--input-type=module", "-e", program, tarball], { cwd: REPOSITORY });
    expect(JSON.parse(stdout)).toEqual({ types: "included", problems: [] });
  }, 300_000);
});
