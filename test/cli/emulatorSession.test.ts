import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { requestLine } from "../../cli/emulator/requestLine";
import { ended, firstOutput, MAIN, run, startIn } from "./command";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "emulator-session-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const write = (name: string, text: string) => writeFileSync(path.join(folder, name), text);
const SEED = { endpoints: [{ id: "one", name: "one", gpuIds: "ADA_24", templateId: "t" }] };

/**
 * A program that runs a job at the endpoint `one` and prints its output. `{ n: 1 }` is the input.
 */
const CALL = `async () => {
  const { SERVERLESS_GPU_QUEUE_URL: url, SERVERLESS_GPU_API_KEY: key } = process.env;
  const headers = { authorization: key, "content-type": "application/json" };
  const response = await fetch(url + "/v2/one/runsync", { method: "POST", headers, body: '{"input":{"n":1}}' });
  return JSON.stringify((await response.json()).output);
}`;

/** A file that the program writes, its content, and the output of a job after that. */
type Change = readonly [file: string, code: string, output: string];

/** Written by the test once the emulator has said that the handlers are unchanged. */
const REFUSED = "refused";

/**
 * Returns a program that makes each change and runs jobs until one has the expected output, which
 * it prints. If `isRefused`, it waits for the refusal of the last change before it runs a job.
 */
const untilChanged = (changes: readonly Change[], isRefused = false) => `
const { existsSync, writeFileSync } = require("node:fs");
const call = ${CALL};
const pause = () => new Promise((resolve) => setTimeout(resolve, 50));
(async () => {
  const changes = ${JSON.stringify(changes)};
  for (const [index, [file, code, wanted]] of changes.entries()) {
    writeFileSync(file, code);
    while (${isRefused} && index === changes.length - 1 && !existsSync("${REFUSED}")) await pause();
    let output;
    for (let left = 1000; output !== wanted && left > 0; left -= 1) {
      await pause();
      output = await call();
    }
    console.log(output);
  }
})();`;

const start = (options: readonly string[], script: string) =>
  startIn(folder, "emulator", "exec", ...options, "--", process.execPath, "-e", script);
const exec = (options: readonly string[], script: string) => ended(start(options, script));

describe("real workers", () => {
  beforeEach(() => write("seed.json", JSON.stringify({ endpoints: [{ ...SEED.endpoints[0], workersMin: 1 }] })));

  test("the output of real workers is shown, even while a command runs", async () => {
    const worker = "one=echo no module named torch >&2; exit 1";
    const { stderr } = await exec(["--seed", "seed.json", "--worker", worker], "setTimeout(() => {}, 1000)");
    expect(stderr).toMatch(/^\[\w+\] no module named torch$/m);
    expect(stderr).toMatch(/^\[\w+\] echo .*: ended with exit code 1 before it asked for a job$/m);
  });

  test("a message says that real workers are still running, and a second interrupt kills them", async () => {
    const child = startIn(
      folder,
      "emulator",
      "--seed",
      "seed.json",
      "--worker",
      "one=trap '' TERM; echo up; sleep 300",
    );
    let stderr = "";
    child.stderr?.on("data", (chunk) => {
      stderr += chunk;
    });
    const seen = async (text: string) => {
      while (!stderr.includes(text)) await new Promise((resolve) => setTimeout(resolve, 20));
    };
    await seen("] up");
    child.kill("SIGINT");
    await seen("Interrupt again to kill them");
    child.kill("SIGINT");
    await new Promise((resolve) => child.once("exit", resolve));
    expect(child.signalCode).toBe("SIGINT");
  });
});

describe("handlers of a folder", () => {
  beforeEach(() => {
    mkdirSync(path.join(folder, "handlers/lib"), { recursive: true });
    write("seed.json", JSON.stringify(SEED));
  });
  const options = ["--seed", "seed.json", "--handlers", "handlers"];
  const once = `(${CALL})().then(console.log);`;

  test.each([
    ["one.cjs", "module.exports = () => 'cjs';", '"cjs"\n'],
    ["one.mjs", "export default () => 'mjs';", '"mjs"\n'],
  ])("handlers of a folder are loaded from %s", async (file, code, output) => {
    write(`handlers/${file}`, code);
    expect(await exec(options, once)).toEqual({ code: 0, stdout: output, stderr: expect.any(String) });
  });

  test("handlers of a folder are accepted in TypeScript if Node.js strips types, and refused otherwise", async () => {
    write("handlers/one.ts", "export default (job: { input: { n: number } }): number => job.input.n + 41;");
    const { code, stdout, stderr } = await exec(options, once);
    const strips = Boolean((process.features as { readonly typescript?: unknown }).typescript);
    if (strips) expect([code, stdout]).toEqual([0, "42\n"]);
    else
      expect([code, stderr]).toEqual([1, expect.stringContaining("cannot run TypeScript. Use Node.js 22.18 or later")]);
  });

  test("handlers of a folder are reloaded with --watch, and a broken file changes nothing", async () => {
    write("handlers/lib/word.js", "exports.word = 'first';");
    const using = "const { word } = require('./lib/word.js'); module.exports = () => word;";
    write("handlers/one.js", using);
    write("handlers/other.mjs", "export default () => 1;");
    const changes: Change[] = [
      ["handlers/lib/word.js", "exports.word = 'second';", '"second"'],
      ["handlers/other.mjs", "export default (", '"second"'],
    ];
    const child = start([...options, "--watch"], untilChanged(changes, true));
    let shown = "";
    child.stderr?.on("data", (chunk) => {
      shown += chunk;
      if (shown.includes("The handlers are unchanged\n")) write(REFUSED, "");
    });
    const { code, stdout, stderr } = await ended(child);
    expect([code, stdout]).toEqual([0, '"second"\n"second"\n']);
    expect(stderr).toContain("serverless-gpu emulator: reloaded the handlers: one, other\n");
    expect(stderr).toMatch(/other\.mjs cannot be loaded: SyntaxError: .*\. The handlers are unchanged\n/);
  });

  test("handlers of a folder are also reloaded if they are ES modules", async () => {
    write("handlers/one.mjs", "export default () => 1;");
    const script = untilChanged([["handlers/one.mjs", "export const handler = () => 'changed';", '"changed"']]);
    expect(await exec([...options, "--watch"], script)).toMatchObject({ code: 0, stdout: '"changed"\n' });
  });
});

test("exec passes a random key to the command, --key sets it, and --host warns if other machines can reach the emulator", async () => {
  const script = "console.log(process.env.SERVERLESS_GPU_API_KEY)";
  const [random, again] = [await exec([], script), await exec([], script)];
  expect(random.stdout).toMatch(/^emulator-[0-9a-f]{32}\n$/);
  expect([random.stdout === again.stdout, random.stderr]).toEqual([false, ""]);
  const open = await exec(["--key", "mine", "--host", "0.0.0.0"], script);
  expect(open.stdout).toBe("mine\n");
  expect(open.stderr).toContain("warning: other machines can reach this emulator, because it listens on 0.0.0.0");
});

test("--watch without --handlers is invalid usage", async () => {
  for (const words of [["emulator"], ["emulator", "exec"]]) {
    const { code, stderr } = await run(...words, "--watch", ...(words.length > 1 ? ["--", "true"] : []));
    expect([code, stderr]).toEqual([2, expect.stringContaining("option '--watch' needs '--handlers <folder>'")]);
  }
});

test("--seed with an existing --data file prints that the seed is ignored", async () => {
  write("seed.json", JSON.stringify(SEED));
  const options = ["--seed", "seed.json", "--data", "data.json"];
  expect(await exec(options, "")).toMatchObject({ code: 0, stderr: "" });
  const { code, stderr } = await exec(options, "");
  expect(code).toBe(0);
  expect(stderr).toContain("--seed seed.json is not used: data.json exists, so the emulator continues from it");
});

describe("--verbose", () => {
  test("--verbose prints each request on one line, with keys redacted", async () => {
    write("seed.json", JSON.stringify(SEED));
    const { stderr } = await exec(["--seed", "seed.json", "--key", "local-emulator-key", "--verbose"], `(${CALL})()`);
    expect(stderr).toMatch(/^\d\d:\d\d:\d\d\.\d{3} 200 queue {3}runsync {8} {1,8}\d+ ms {2}one\n$/);
    expect(stderr).not.toContain("local-emulator-key");
  });

  const request = { number: 1, at: 0, interface: "rest", method: "GET", path: "/", operation: "getPod", arguments: {} };
  const line = (more: object, hasColors = false) =>
    requestLine({ ...request, durationMs: 3, ...more } as Parameters<typeof requestLine>[0], hasColors);

  test("--verbose shows the fault rule, the error and the dropped connection of a request", () => {
    expect(line({ status: 404, outcome: "error", error: "pod\nnot found" })).toBe(
      "00:00:00.000 404 rest    getPod             3 ms  pod not found",
    );
    expect(line({ outcome: "cut", fault: "reset" })).toBe(
      "00:00:00.000 cut rest    getPod             3 ms  fault: reset",
    );
  });

  test.each([
    [{ status: 200, outcome: "ok" }, 32],
    [{ status: 200, outcome: "error" }, 33],
    [{ status: 429, outcome: "error" }, 33],
    [{ status: 503, outcome: "error" }, 31],
    [{ outcome: "cut" }, 31],
  ])("--verbose colors %j with code %d on a terminal", (more, color) => {
    expect(line(more, true)).toContain(`\u001b[${color}m`);
    expect(line(more)).not.toContain("\u001b");
  });
});

describe("serverless-gpu emulator env", () => {
  const start = (...args: readonly string[]) =>
    spawn(process.execPath, [MAIN, ...args], {
      env: { ...process.env, XDG_RUNTIME_DIR: folder },
      stdio: ["ignore", "pipe", "pipe"],
    });

  test("serverless-gpu emulator env prints the environment of the running emulator, or asks for a port", async () => {
    const none = await ended(start("emulator", "env"));
    expect([none.code, none.stdout]).toEqual([1, ""]);
    expect(none.stderr).toContain(
      "you have no emulator running on this machine. To start one: npx pulumi-serverless-gpu emulator",
    );

    const first = start("emulator");
    const printed = await firstOutput(first);
    expect(await ended(start("emulator", "env"))).toEqual({ code: 0, stdout: printed, stderr: "" });

    // A killed emulator leaves its note behind.
    const killed = start("emulator", "--json");
    await firstOutput(killed);
    killed.kill("SIGKILL");
    await ended(killed);
    expect((await ended(start("emulator", "env"))).stdout).toBe(printed);

    const second = start("emulator", "--json");
    const { url, env } = JSON.parse(await firstOutput(second));
    const several = await ended(start("emulator", "env"));
    expect([several.code, several.stdout]).toEqual([1, ""]);
    expect(several.stderr).toContain(`2 emulators are running. Choose one with --port:`);
    expect(several.stderr).toContain(url);
    const chosen = await ended(start("emulator", "env", "--json", "--port", new URL(url).port));
    expect(JSON.parse(chosen.stdout)).toEqual({ url, env });
    for (const child of [first, second]) child.kill("SIGTERM");
    await Promise.all([first, second].map(ended));
    expect((await ended(start("emulator", "env"))).code).toBe(1);
  }, 30_000);
});

describe("a shell", () => {
  test("a shell shows what is running, the address of the page, and what happens to the data", async () => {
    const shell = spawn("sh", ["-c", `"${process.execPath}" "${MAIN}" emulator exec --data kept.json -- bash`], {
      cwd: folder,
      stdio: ["pipe", "pipe", "pipe"],
    });
    shell.stdin.end("echo $SERVERLESS_GPU_QUEUE_URL\n");
    const { code, stdout, stderr } = await ended(shell);
    expect(code).toBe(0);
    expect(stderr).toBe(
      `Programs in this shell use an emulator of the service: ${stdout}Its page: ${stdout.trim()}/_emulator/\n` +
        "When you leave the shell (exit), the emulator stops, and kept.json keeps its data.\n",
    );
  });

  // `script` of util-linux runs a command at a terminal.
  const testAtTerminal = process.platform === "linux" ? test : test.skip;

  testAtTerminal.each([
    ["bash", "(emulator) mine> "],
    ["dash", "(emulator) $ "],
  ])("has a prompt that shows the emulator: %s", async (shell, prompt) => {
    write(".bashrc", "PS1='mine> '\n");
    const terminal = spawn(
      "script",
      ["-qec", `"${process.execPath}" "${MAIN}" emulator exec -- ${shell}`, "/dev/null"],
      {
        env: { ...process.env, HOME: folder, TERM: "dumb" },
        stdio: ["pipe", "pipe", "pipe"],
      },
    );
    terminal.stdin.write("exit\n");
    const { code, stdout } = await ended(terminal);
    expect(code).toBe(0);
    expect(stdout).toContain(prompt);
  });

  test("a shell shows no greeting when it runs a script", async () => {
    const { stdout, stderr } = await run("emulator", "exec", "--", "bash", "-c", "echo done");
    expect([stdout, stderr]).toEqual(["done\n", ""]);
  });
});
