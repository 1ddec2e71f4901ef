import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { ensurePulumi } from "../../tools/pulumi-cli/ensurePulumi";

const REPOSITORY = path.resolve(__dirname, "../..");
const { version } = JSON.parse(readFileSync(path.join(REPOSITORY, "package.json"), "utf8")) as { version: string };
const PLUGIN = "pulumi-resource-serverless-gpu";

let folder: string;
let release: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), "release-"));
  release = path.join(folder, "release");
  run(process.execPath, ["tools/releaseFiles.js", release], REPOSITORY);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function run(command: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv = {}): string {
  return execFileSync(command, args, { cwd, env: { ...process.env, ...env }, encoding: "utf8" });
}

function emptyFolder(name: string): string {
  const made = path.join(folder, name);
  mkdirSync(made);
  return made;
}

test("a release has checksums of all its files, which are right", () => {
  const listed = readFileSync(path.join(release, "SHA256SUMS"), "utf8").trim().split("\n");
  const names = listed.map((line) => line.split("  ")[1]);
  expect(names).toEqual(
    readdirSync(release)
      .filter((name) => name !== "SHA256SUMS")
      .sort(),
  );
  expect(run("sha256sum", ["--check", "--quiet", "SHA256SUMS"], release)).toBe("");
});

test("the npm package of a release has a command and a client", () => {
  const project = emptyFolder("npm");
  writeFileSync(path.join(project, "package.json"), JSON.stringify({ name: "user", private: true }));
  run(
    "npm",
    ["install", "--no-audit", "--no-fund", path.join(release, `pulumi-serverless-gpu-${version}.tgz`)],
    project,
  );
  expect(run("node_modules/.bin/serverless-gpu", ["--version"], project)).toContain(version);
  const program = 'console.log(typeof require("pulumi-serverless-gpu/sdk").createClient)';
  expect(run(process.execPath, ["-e", program], project)).toBe("function\n");
});

test("the npm package of the plugin runs, and has the license", () => {
  const project = emptyFolder("plugin");
  writeFileSync(path.join(project, "package.json"), JSON.stringify({ name: "user", private: true }));
  run("npm", ["install", "--no-audit", "--no-fund", path.join(release, `${PLUGIN}-${version}.tgz`)], project);
  expect(run(`node_modules/.bin/${PLUGIN}`, ["--version"], project)).toBe(`${version}\n`);
  expect(readdirSync(path.join(project, "node_modules", PLUGIN))).toContain("LICENSE");
});

test("the engine installs the plugin's archive, and reads the schema of the release from it", async () => {
  const { command } = await ensurePulumi({ log: () => {} });
  const project = emptyFolder("archive");
  const env = { PULUMI_HOME: path.join(project, "home"), PULUMI_SKIP_UPDATE_CHECK: "true" };
  const archive = path.join(
    release,
    `${PLUGIN}-v${version}-${process.platform}-${process.arch === "x64" ? "amd64" : process.arch}.tar.gz`,
  );
  run(command, ["plugin", "install", "resource", "serverless-gpu", version, "--file", archive], project, env);
  const shown = JSON.parse(run(command, ["package", "get-schema", `serverless-gpu@${version}`], project, env));
  const schema = JSON.parse(readFileSync(path.join(release, "schema.json"), "utf8"));
  expect([shown.version, Object.keys(shown.resources).sort()]).toEqual([version, Object.keys(schema.resources).sort()]);
});

test("the SDKs of a release can be installed", () => {
  const sdks = emptyFolder("sdks");
  const archives = readdirSync(release).filter((name) => name.startsWith(`${PLUGIN}-sdk-`));
  for (const archive of archives) run("tar", ["--extract", "--file", path.join(release, archive)], sdks);
  expect(readdirSync(sdks)).toEqual(expect.arrayContaining(["go", "java", "python"]));
  run("python3", ["-m", "venv", "venv"], sdks);
  run("venv/bin/pip", ["install", "--quiet", "--disable-pip-version-check", "./python"], sdks);
  expect(
    run("venv/bin/python", ["-c", "import pulumi_serverless_gpu as s; print(s.ServerlessEndpoint.__name__)"], sdks),
  ).toBe("ServerlessEndpoint\n");
});

test("a release lists the packages that the npm package brings along", () => {
  const list = JSON.parse(readFileSync(path.join(release, `pulumi-serverless-gpu-${version}.spdx.json`), "utf8"));
  const names = (list.packages as readonly { readonly name: string }[]).map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(["pulumi-serverless-gpu", "undici", "zod"]));
  expect(names).not.toContain("typescript");
});
