import { copyFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { type Emulator, startEmulator } from "../../emulator";
import manifest from "../../package.json";
import { createFolder, install, packInto, run } from "./packed";

jest.setTimeout(300_000);

/** A program that uses both APIs of the client, and prints what it got. */
const PROGRAM = `
  import { createClient, NotFoundError } from "pulumi-serverless-gpu/sdk";
  (async () => {
    const client = createClient();
    const fields = { gpuIds: "AMPERE_16", templateId: "t", workersMin: 1 };
    const { id } = await client.endpoints.create({ ...fields, name: "bundled-" + process.pid });
    const { output } = await client.endpoint(id).runSync({ input: { hello: "world" } });
    const missing = await client.pods.get("nowhere").catch((error) => error);
    const wrong = await client.endpoints.create({ ...fields, gpuIds: "AMPERE_61" }).catch((error) => error);
    console.log(JSON.stringify([output, missing instanceof NotFoundError, wrong.message]));
    await client.close();
  })();`;
const EXPECTED = [{ hello: "world" }, true, expect.stringContaining("Did you mean AMPERE_16?")];

/** Each bundles `entry` into `file` in the format `format`, and adds its warnings to `warnings`. */
const BUNDLERS = {
  esbuild: `
    import { build } from "esbuild";
    const js = "import { createRequire } from 'module'; const require = createRequire(import.meta.url);";
    const banner = format === "esm" ? { js } : {};
    const options = { entryPoints: [entry], outfile: file, bundle: true, platform: "node", target: "node20", format };
    warnings.push(...(await build({ ...options, banner, logLevel: "silent" })).warnings);`,
  rollup: `
    import commonjs from "@rollup/plugin-commonjs";
    import { nodeResolve } from "@rollup/plugin-node-resolve";
    import { rollup } from "rollup";
    const plugins = [nodeResolve(), commonjs()];
    const bundle = await rollup({ input: entry, plugins, onwarn: (warning) => warnings.push(warning) });
    await bundle.write({ file, format });`,
  webpack: `
    import webpack from "webpack";
    const isModule = format === "esm";
    const output = { path: path.dirname(file), filename: path.basename(file), module: isModule };
    const options = { mode: "production", target: "node20", entry, output, experiments: { outputModule: isModule } };
    const stats = await new Promise((resolve, reject) =>
      webpack(options, (error, stats) => (error ? reject(error) : resolve(stats.toJson()))));
    warnings.push(...stats.errors, ...stats.warnings);`,
} as const;

const bundling = (bundler: keyof typeof BUNDLERS) => `
  import path from "node:path";
  const [entry, file, format] = process.argv.slice(2);
  const warnings = [];
  ${BUNDLERS[bundler]}
  console.log(JSON.stringify(warnings.map(({ text, message }) => text ?? message)));`;

const CASES = [
  ["esbuild", "cjs"],
  ["esbuild", "esm"],
  ["rollup", "cjs"],
  ["rollup", "esm"],
  ["webpack", "cjs"],
  ["webpack", "esm"],
] as const;

/**
 * A project that has another undici than the client, as `@pulumi/pulumi` brings one, and a folder
 * in which nothing is installed.
 */
let project: string;
let empty: string;
let emulator: Emulator | undefined;

beforeAll(async () => {
  [project, empty, emulator] = await Promise.all([
    createFolder(),
    createFolder(),
    startEmulator({ profile: "contract", coldStartMs: 0 }),
  ]);
  await install(
    "npm",
    project,
    {
      "pulumi-serverless-gpu": `file:${await packInto(project)}`,
      undici: "6",
      esbuild: manifest.devDependencies.esbuild,
      rollup: manifest.devDependencies.rollup,
      "@rollup/plugin-commonjs": "29.0.3",
      "@rollup/plugin-node-resolve": "16.0.3",
      webpack: "5.113.0",
    },
    ["--omit=peer"],
  );
  await writeFile(path.join(project, "program.mjs"), PROGRAM);
});

afterAll(async () => {
  await emulator?.stop();
  await Promise.all([project, empty].map((folder) => rm(folder, { recursive: true, force: true })));
});

/** Runs a file in its folder, and returns what it prints, read as JSON. */
async function output(folder: string, ...args: readonly string[]): Promise<unknown> {
  return JSON.parse((await run("node", args, { cwd: folder, env: { ...process.env, ...emulator?.env } })).stdout);
}

test.each(
  CASES,
)("%s bundles the client into one %s file without a warning, which runs alone and beside another undici", async (bundler, format) => {
  const name = `${bundler}.${format === "cjs" ? "cjs" : "mjs"}`;
  const file = path.join(project, name);
  await writeFile(path.join(project, `${bundler}.build.mjs`), bundling(bundler));
  expect(await output(project, `${bundler}.build.mjs`, path.join(project, "program.mjs"), file, format)).toEqual([]);
  await copyFile(file, path.join(empty, name));
  expect(await output(empty, name)).toEqual(EXPECTED);
  expect(await output(project, name)).toEqual(EXPECTED);
});
