import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { commandLine } from "../../cli/commandLine";
import type { DeclaredCommand } from "../../cli/declareCommand";
import { version } from "../../package.json";
import { REPOSITORY } from "../support/sources";
import { MAIN } from "./command";

/** Returns the blocks of the page by their heading. */
function blocks(): Map<string, string> {
  const page = readFileSync(path.join(REPOSITORY, "docs/command-line.md"), "utf8");
  const found = page.matchAll(/^## `serverless-gpu ?([^`\n]*)`\n.*?^```text\n(.*?)\n```$/gms);
  return new Map([...found].map(([, command = "", text = ""]) => [command, text]));
}

function run(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [MAIN, ...args], (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === "number" ? error.code : 0, stdout, stderr });
    });
  });
}

/** Returns the names of the commands that a folder of `cli/` declares. */
function declaredIn(folder: string): string[] {
  const place = path.join(REPOSITORY, "cli", folder);
  const files = readdirSync(place).filter((file) => file.endsWith("Command.ts"));
  const values: DeclaredCommand[] = files.flatMap((file) => Object.values(require(path.join(place, file))));
  return values.filter((value) => "addTo" in value).map(({ name }) => name);
}

test("every folder but `connection` declares a command, and the command line has every declared one", () => {
  const entries = readdirSync(path.join(REPOSITORY, "cli"), { withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  expect(folders.filter((folder) => declaredIn(folder).length === 0)).toEqual(["connection"]);
  const registered = commandLine().commands.map((command) => command.name());
  expect(folders.flatMap(declaredIn).sort()).toEqual(registered);
});

test("the page contains a help block for every command", async () => {
  const commandsOf = async (...group: string[]) => {
    const { stdout } = await run(...group, "--help");
    const list = /Commands:\n(.*?)\n\n/s.exec(stdout)?.[1] ?? "";
    return list.split("\n").map((line) => [...group, line.trim().split(/ {2,}/)[0]].join(" "));
  };
  const commands = await commandsOf();
  expect(commands).toContain("doctor");
  const groups = ["emulator"];
  const all = await Promise.all(
    commands.map(async (command) => [command, ...(groups.includes(command) ? await commandsOf(command) : [])]),
  );
  expect([...blocks().keys()]).toEqual(["", ...all.flat()]);
});

// If one differs, put the output of the command into docs/command-line.md.
test.each([...blocks()])("the page shows what `serverless-gpu %s --help` prints", async (command, text) => {
  expect(await run(...command.split(" ").filter(Boolean), "--help")).toEqual({
    code: 0,
    stdout: `${text}\n`,
    stderr: "",
  });
  for (const part of ["Options:", "Examples:", "Exit codes:", "--help"]) expect(text).toContain(part);
});

test("help and version work in all common forms", async () => {
  const all = (await run("--help")).stdout;
  expect((await run()).stdout).toBe(all);
  expect((await run("help")).stdout).toBe(all);
  expect((await run("help", "emulator", "exec")).stdout).toBe(`${blocks().get("emulator exec")}\n`);
  expect(await run("--version")).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
});

test.each([
  [["emulater"], "unknown command 'emulater'\n(Did you mean emulator?)"],
  [["emulator", "exce", "--", "ls"], "unknown command 'emulator exce'. Did you mean exec?"],
  [["frobnicate"], "unknown command 'frobnicate'"],
  [["doctor", "--jsn"], "unknown option '--jsn'\n(Did you mean --json?)"],
  [["doctor", "now"], "too many arguments for 'doctor'"],
  [["adopt", "--filter"], "option '--filter <text>' argument missing"],
  [["emulator", "exec", "npm", "--silent"], "Put -- before the command and its arguments"],
])("invalid usage, %j, exits with code 2 and a helpful message", async (args, message) => {
  const { code, stdout, stderr } = await run(...args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toContain(message);
  expect(stderr).toMatch(/Run "npx pulumi-serverless-gpu .*--help"/);
});

test("a command exits quietly when the reader of its output exits first", async () => {
  const script = `"${process.execPath}" "${MAIN}" emulator exec --help | head -n 0`;
  const { stderr } = await new Promise<{ stderr: string }>((resolve) => {
    execFile("bash", ["-c", script], (_, stdout, errors) => resolve({ stderr: `${stdout}${errors}` }));
  });
  expect(stderr).toBe("");
});
