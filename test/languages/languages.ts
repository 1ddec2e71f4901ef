import { execFile } from "node:child_process";
import { cp, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import schema from "../../plugin/schema.json";
import { ensurePulumi } from "../../tools/pulumi-cli/ensurePulumi";
import { SCRATCH } from "../pulumi/harness";
import { PLUGIN, VERSION } from "./plugin";

/** A language of Pulumi programs. */
export interface Language {
  /** Its name in documents. */
  readonly title: string;
  /** Its name in `Pulumi.yaml` and that of its program's folder. */
  readonly runtime: "yaml" | "python" | "go" | "java";
  /** The path of the program in its folder. */
  readonly program: string;
  /** The environment that the program needs. */
  readonly env: Readonly<Record<string, string>>;
  /** Installs the generated SDK where programs find it. */
  installSdk(sdk: string): Promise<void>;
  /** Returns the whole program for the definitions that `pulumi import` has written. */
  importing(definitions: string): string;
  /** Compiles the program of a folder. */
  compile(folder: string): Promise<void>;
}

/** Files that all programs of a language share. */
const sharedFolder = (runtime: Language["runtime"]) => path.join(SCRATCH, "languages", runtime);

const CLIENTS = path.join(SCRATCH, "clients");
const PYTHON_BIN = path.join(CLIENTS, "pulumi-python/venv/bin");
const JARS = path.join(CLIENTS, "pulumi-java/target/dependency");
const SITE = path.join(sharedFolder("python"), "site");
const CLASSES = path.join(sharedFolder("java"), "classes");

const run = (file: string, args: readonly string[], cwd: string, env: Readonly<Record<string, string>> = {}) =>
  promisify(execFile)(file, args, { cwd, env: { ...process.env, ...env }, maxBuffer: 64_000_000 });

const nothing = async () => {};

const YAML: Language = {
  title: "YAML",
  runtime: "yaml",
  program: "Pulumi.yaml",
  env: {},
  installSdk: nothing,
  importing: (definitions) => `name: languages\nruntime: yaml\n${definitions}`,
  compile: nothing,
};

export const PYTHON: Language = {
  title: "Python",
  runtime: "python",
  program: "__main__.py",
  env: { PYTHONPATH: SITE },
  async installSdk(sdk) {
    const options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--no-build-isolation", "--no-compile"];
    await run(path.join(PYTHON_BIN, "python"), ["-m", "pip", "install", ...options, "--target", SITE, sdk], sdk);
  },
  importing: (program) => program,
  compile: nothing,
};

const GO: Language = {
  title: "Go",
  runtime: "go",
  program: "main.go",
  env: {},
  async installSdk(sdk) {
    // Published, the SDK has a go.mod of its own.
    await writeFile(path.join(sdk, "go.mod"), `module ${schema.language.go.importBasePath}\n\ngo 1.25\n`);
  },
  importing: (program) => program,
  async compile(folder) {
    await cp(path.join(sharedFolder("go"), "sdk/go"), path.join(folder, "sdk"), { recursive: true });
    await run("go", ["build", "-trimpath", "-o", "program", "."], folder, { CGO_ENABLED: "0" });
  },
};

/**
 * A whole number in a program that the Java host has written. The host was made for an older code
 * generator, and fails at whole numbers of the one that it is built with here.
 */
const WHOLE_NUMBER = /%!v\(PANIC=.*?cty\.NumberIntVal\((\d+)\).*?\)\)/g;

const JAVA: Language = {
  title: "Java",
  runtime: "java",
  program: "src/main/java/example/App.java",
  env: {},
  async installSdk(sdk) {
    await compileJava(path.join(sdk, "src/main/java"), CLASSES);
    // The SDK's own build does the same.
    const resources = path.join(CLASSES, "com/pulumi/serverless-gpu");
    await mkdir(resources, { recursive: true });
    await writeFile(path.join(resources, "version.txt"), VERSION);
  },
  importing: (program) => program.replace("package generated_program;", "package example;").replace(WHOLE_NUMBER, "$1"),
  async compile(folder) {
    const classes = path.join(folder, "classes");
    await rm(classes, { recursive: true, force: true });
    await compileJava(path.join(folder, "src/main/java"), classes);
    const jars = (await readdir(JARS)).map((name) => path.join(JARS, name));
    // A line of a manifest is short, and a space continues it.
    const classPath = [`${CLASSES}/`, ...jars].map((entry) => `file://${entry}`).join(" ");
    const lines = `Class-Path: ${classPath}`.match(/.{1,70}/g) ?? [];
    await writeFile(path.join(folder, "manifest"), `Main-Class: example.App\n${lines.join("\n ")}\n`);
    await run("jar", ["--create", "--file", "program.jar", "--manifest", "manifest", "-C", "classes", "."], folder);
  },
};

/** Compiles the sources of a folder with the SDK. */
export async function compileJava(sources: string, classes: string): Promise<void> {
  const files = (await readdir(sources, { recursive: true })).filter((name) => name.endsWith(".java"));
  const options = ["-nowarn", "-d", classes, "-cp", `${JARS}/*${path.delimiter}${CLASSES}`];
  await run("javac", [...options, ...files], sources);
}

export const LANGUAGES: readonly Language[] = [YAML, PYTHON, GO, JAVA];

/** Generates the SDK of a language as `pulumi package gen-sdk` does for users, and installs it. */
export async function prepareSdk(language: Language): Promise<void> {
  const folder = sharedFolder(language.runtime);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  if (language === YAML) return;
  const { command } = await ensurePulumi({ log: () => {} });
  await run(command, ["package", "gen-sdk", PLUGIN, "--language", language.runtime, "--out", "sdk"], folder, {
    PULUMI_HOME: path.join(folder, "home"),
    PULUMI_SKIP_UPDATE_CHECK: "true",
  });
  await language.installSdk(path.join(folder, "sdk", language.runtime));
}

/**
 * Copies a program of this folder to a scratch folder and compiles it. Returns the path of the
 * folder.
 */
export async function prepareProgram(language: Language): Promise<string> {
  const folder = path.join(sharedFolder(language.runtime), "program");
  await rm(folder, { recursive: true, force: true });
  await cp(path.join(__dirname, "programs", language.runtime), folder, { recursive: true });
  await language.compile(folder);
  return folder;
}
