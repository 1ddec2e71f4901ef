import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import manifest from "../../package.json";
import { REPOSITORY } from "../support/sources";
import { readYaml } from "../support/yaml";

interface Workflow {
  readonly on: Readonly<Record<string, unknown>>;
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

interface Job {
  readonly uses?: string;
  readonly strategy?: { readonly matrix: { readonly node: readonly number[] } };
  readonly permissions?: Readonly<Record<string, string>>;
  readonly steps?: readonly { readonly uses?: string; readonly run?: string }[];
}

const WORKFLOWS = ["ci", "release"] as const;
const [ci, release] = WORKFLOWS.flatMap((name) => readYaml<Workflow>(`.github/workflows/${name}.yml`)) as [
  Workflow,
  Workflow,
];
const jobs = [ci, release].flatMap((workflow) => Object.values(workflow.jobs));
const steps = jobs.flatMap((job) => job.steps ?? []);
const commands = steps.flatMap(({ run }) => run ?? []);

test("every script that the workflows call exists", () => {
  const ofCi = readFileSync(path.join(REPOSITORY, ".ci/run"), "utf8").split("\n");
  const called = [...commands, ...ofCi].map(
    (command) => /^(?:\w+=\S+ )*(?:npm run|node|(?=\.))\s*(\S+)/.exec(command)?.[1],
  );
  const scripts = called.filter((script) => script !== undefined);
  expect(scripts).toEqual([
    ".ci/run",
    "test:nodes",
    "test:languages",
    "tools/checkRelease.js",
    "build:plugin",
    "tools/releaseArchives.js",
    "build:plugin",
    "lint",
    "typecheck",
    "clients:install",
    "test:all",
  ]);
  const isThere = (script: string) =>
    Object.hasOwn(manifest.scripts, script) || existsSync(path.join(REPOSITORY, script));
  expect(scripts.filter((script) => !isThere(script))).toEqual([]);
});

test("third-party actions are pinned to a commit, and our own workflows exist", () => {
  const used = [...steps, ...jobs].flatMap(({ uses }) => uses ?? []);
  const [own, others] = [true, false].map((isOwn) => used.filter((name) => name.startsWith("./") === isOwn));
  expect(own?.map((name) => existsSync(path.join(REPOSITORY, name)))).toEqual([true]);
  expect(others?.length).toBeGreaterThan(3);
  expect(others?.filter((name) => !/@[0-9a-f]{40}$/.test(name))).toEqual([]);
});

test("tests run on the oldest Node.js line that package.json allows and on later ones", () => {
  const [oldest] = /\d+/.exec(manifest.engines.node) ?? [];
  expect(ci.jobs.test?.strategy?.matrix.node).toEqual([Number(oldest), 22, 24]);
});

test("only the publishing job gets an identity token, after the tests, and no token is stored", () => {
  expect(release.permissions).toEqual({});
  expect(release.jobs.publish).toMatchObject({
    needs: "test",
    permissions: { contents: "write", "id-token": "write" },
  });
  expect(release.jobs.test).toMatchObject({ uses: "./.github/workflows/ci.yml", permissions: { contents: "read" } });
  expect(commands).toContain("npm publish --provenance --access public");
  expect(readFileSync(path.join(REPOSITORY, ".github/workflows/release.yml"), "utf8")).not.toContain("secrets.");
});

describe("a release fails unless tag, version, changelog and README agree", () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), "serverless-gpu-release-"));
    mkdirSync(path.join(folder, "plugin"));
    for (const file of ["package.json", "plugin/package.json"])
      writeFileSync(path.join(folder, file), JSON.stringify({ version: "1.2.3" }));
  });

  afterAll(() => rmSync(folder, { recursive: true }));

  const check = (tag: string, heading: string, readme = "npm install pulumi-serverless-gpu") => {
    writeFileSync(path.join(folder, "README.md"), readme);
    writeFileSync(path.join(folder, "CHANGELOG.md"), `# Changelog\n\n${heading}\n\n- New.\n\n## 1.2.2 - 2030-01-01\n`);
    const script = path.join(REPOSITORY, "tools/checkRelease.js");
    const { status, stderr } = spawnSync(process.execPath, [script, tag], { cwd: folder, encoding: "utf8" });
    return { status, stderr };
  };

  test("the current tag, version, changelog and README agree", () => {
    expect(check("v1.2.3", "## 1.2.3 - 2030-02-01")).toEqual({ status: 0, stderr: "" });
  });

  test("the repository's README is refused as long as it installs a package that the clone packs", () => {
    const readme = readFileSync(path.join(REPOSITORY, "README.md"), "utf8");
    const isPacked = readme.includes("npm run new");
    const { status, stderr } = check("v1.2.3", "## 1.2.3 - 2030-02-01", readme);
    expect([status, stderr.includes("README.md installs a packed clone")]).toEqual(isPacked ? [1, true] : [0, false]);
    expect(check("v1.2.3", "## 1.2.3 - 2030-02-01", "npm run new ../llama").status).toBe(1);
  });

  test("both packages have the same version", () => {
    const file = path.join(folder, "plugin/package.json");
    writeFileSync(file, JSON.stringify({ version: "1.2.2" }));
    const { status, stderr } = check("v1.2.3", "## 1.2.3 - 2030-02-01");
    writeFileSync(file, JSON.stringify({ version: "1.2.3" }));
    expect(status).toBe(1);
    expect(stderr).toContain("package.json has the version 1.2.3, and plugin/package.json has 1.2.2");
  });

  test.each([
    ["v1.2.4", "## 1.2.3 - 2030-02-01", "the tag is v1.2.4, and package.json has the version 1.2.3"],
    ["1.2.3", "## 1.2.3 - 2030-02-01", "the tag is 1.2.3"],
    ["v1.2.3", "## Unreleased", 'the newest heading of CHANGELOG.md is "Unreleased"'],
    ["v1.2.3", "Text alone", 'the newest heading of CHANGELOG.md is "1.2.2 - 2030-01-01"'],
    ["v1.2.3", "## 1.2.3", 'the heading "1.2.3" has no date'],
  ])("%s with %s", (tag, heading, problem) => {
    const { status, stderr } = check(tag, heading);
    expect(status).toBe(1);
    expect(stderr).toContain(problem);
  });
});
