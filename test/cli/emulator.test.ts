import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ended, firstOutput, MAIN as main, run, start, startIn } from "./command";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "emulator-command-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("serverless-gpu emulator", () => {
  test.each([
    "SIGINT",
    "SIGTERM",
  ] as const)("serverless-gpu emulator prints the environment to export, and runs until %s", async (signal) => {
    const child = start("emulator");
    const output = await firstOutput(child);
    const env = Object.fromEntries(
      [...output.matchAll(/^export (\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]),
    );
    expect(Object.keys(env)).toEqual([
      "SERVERLESS_GPU_SERVICE",
      "SERVERLESS_GPU_API_KEY",
      "SERVERLESS_GPU_GRAPHQL_URL",
      "SERVERLESS_GPU_REST_URL",
      "SERVERLESS_GPU_QUEUE_URL",
    ]);
    const headers = { authorization: `Bearer ${env.SERVERLESS_GPU_API_KEY}` };
    expect((await fetch(`${env.SERVERLESS_GPU_REST_URL}/v1/pods/x`, { headers })).status).toBe(404);
    child.kill(signal);
    expect((await ended(child)).code).toBe(0);
  });

  test("serverless-gpu emulator prints one line of JSON with --json, and applies its options", async () => {
    const seed = path.join(folder, "seed.json");
    writeFileSync(seed, JSON.stringify({ endpoints: [{ id: "mine", name: "a", gpuIds: "ADA_24", templateId: "t" }] }));
    const child = start("emulator", "--json", "--seed", seed, "--clock", "manual", "--profile", "observed");
    const output = await firstOutput(child);
    expect(output.indexOf("\n")).toBe(output.length - 1);
    const { url, env } = JSON.parse(output);
    expect(env.SERVERLESS_GPU_GRAPHQL_URL).toBe(url);
    expect(await (await fetch(`${url}/_emulator/endpoints/mine`)).json()).toMatchObject({ name: "a" });
    expect(await (await fetch(`${url}/_emulator/clock`)).json()).toMatchObject({ manual: true });
    child.kill("SIGTERM");
    await ended(child);
  });

  test("serverless-gpu emulator sets the account's discount and a key without permission", async () => {
    const child = start("emulator", "--json", "--discount", "0.8,volume,2027-01-01", "--restricted-key", "may-nothing");
    const { url, env } = JSON.parse(await firstOutput(child));
    const query = "{ myself { serverlessDiscount { discountFactor type expirationDate } } }";
    const ask = (key: string) =>
      fetch(`${url}/graphql?api_key=${key}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ query }),
      });
    const serverlessDiscount = { discountFactor: 0.8, type: "volume", expirationDate: "2027-01-01" };
    expect(await (await ask(env.SERVERLESS_GPU_API_KEY)).json()).toEqual({ data: { myself: { serverlessDiscount } } });
    expect(await (await ask("may-nothing")).text()).toContain("Unauthorized");
    const journal = await (await fetch(`${url}/_emulator/journal`)).text();
    expect(journal).not.toContain("may-nothing");
    child.kill("SIGTERM");
    await ended(child);
  });

  test("serverless-gpu emulator applies rules for templates, volumes and registry credentials", async () => {
    const options = ["--strict-references", "--template-release-ms", "60000", "--stale-flashboot"];
    const child = start("emulator", "--json", ...options);
    const { url } = JSON.parse(await firstOutput(child));
    const post = (kind: string, body: object) =>
      fetch(`${url}/_emulator/${kind}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
    const endpoint = { name: "a", gpuIds: "ADA_24", templateId: "t" };
    expect(await (await post("endpoints", endpoint)).json()).toEqual({ error: "Unable to find template" });
    await post("templates", { id: "t", name: "t", imageName: "app:1" });
    expect((await post("endpoints", endpoint)).status).toBe(200);
    child.kill("SIGTERM");
    await ended(child);
  });

  test("serverless-gpu emulator runs the handlers from a folder", async () => {
    writeFileSync(path.join(folder, "doubler.js"), "module.exports = (job) => job.input.n * 2;");
    const script = `
      const { SERVERLESS_GPU_QUEUE_URL: url, SERVERLESS_GPU_API_KEY: key } = process.env;
      const post = async (path, body) => (await fetch(url + path, { method: "POST", headers: {
        authorization: key, "content-type": "application/json" }, body: JSON.stringify(body) })).json();
      (async () => {
        const { id } = await post("/_emulator/endpoints", { name: "doubler", gpuIds: "ADA_24", templateId: "t" });
        console.log((await post("/v2/" + id + "/runsync", { input: { n: 21 } })).output);
      })();`;
    const { code, stdout } = await run("emulator", "exec", "--handlers", folder, "--", process.execPath, "-e", script);
    expect([code, stdout]).toEqual([0, "42\n"]);
  });

  test.each([
    [["--port", "99999"], 2, "'99999' is invalid. Give a whole number from 0 to 65535."],
    [["--profile", "newest"], 2, "Allowed choices are observed, contract."],
    [["--clock", "slow"], 2, "Give real, manual, or a number of 1 or more."],
    [["--clock", "Infinity"], 2, "Give real, manual, or a number"],
    [["--drain-ms", "-1"], 2, "--drain-ms"],
    [["--template-release-ms", "soon"], 2, "--template-release-ms"],
    [["--discount", "0.8"], 2, "Give factor,type,expiration date"],
    [["--discount", "much,volume,2027-01-01"], 2, "Give factor,type,expiration date"],
    [["--discount", "0.8,volume,soon"], 2, "Give factor,type,expiration date"],
    [["--restricted-key", "a b"], 2, "'--restricted-key <key>' takes a key without spaces"],
    [["--prot", "80"], 2, "unknown option '--prot'\n(Did you mean --port?)"],
    [["--nonsense"], 2, "unknown option '--nonsense'"],
    [["start"], 2, "'emulator start'"],
    [["--seed", "missing.json"], 1, "--seed missing.json cannot be read: there is no such file"],
    [["--seed", "text"], 1, "is not valid JSON"],
    [["--seed", "wrong"], 1, "at endpoints[0].gpuIds"],
    [["--seed", "refused"], 1, `The seed's endpoint "a" cannot be created: Invalid GPU Pool ID: NOPE`],
    [["--data", "wrong"], 1, "is not data of an emulator, or is damaged. Name another file, or move this one away."],
    [["--data", "missing/state.json"], 1, "cannot be written: there is no such file or folder"],
    [["--handlers", "missing"], 1, "the handlers' folder missing cannot be read: there is no such file or folder"],
    [["--handlers", "."], 1, "broken.js cannot be loaded: SyntaxError"],
    [["--host", "192.0.2.1"], 1, "that is not an IP address of this machine"],
  ])("serverless-gpu emulator refuses %j with a message that says what is wrong", async (args, exitCode, message) => {
    const files = {
      text: "{",
      wrong: '{"endpoints": [{"name": "a", "gpuIds": 5}]}',
      refused: '{"endpoints": [{"name": "a", "gpuIds": "NOPE", "templateId": "t"}]}',
      "broken.js": "module exports",
    };
    for (const [file, text] of Object.entries(files)) writeFileSync(path.join(folder, file), text);
    const { code, stdout, stderr } = await ended(startIn(folder, "emulator", ...args));
    expect(stderr).toContain(message);
    expect({ code, stdout }).toEqual({ code: exitCode, stdout: "" });
    expect(stderr).not.toMatch(/\n\s+at /);
  });
});

/** Tests on systems where killed processes leave orphans. */
const testOnPosix = process.platform === "win32" ? test.skip : test;

describe("an emulator whose parent process ends", () => {
  const started: number[] = [];
  afterEach(() => {
    for (const group of started.splice(0)) {
      try {
        process.kill(-group, "SIGKILL");
      } catch {
        // The whole group has ended.
      }
    }
  });

  /** Runs a command that starts an emulator, in a process group of its own. */
  async function startedBy(file: string, args: string[], env: NodeJS.ProcessEnv) {
    const child = spawn(file, args, { cwd: folder, env, stdio: ["ignore", "pipe", "inherit"], detached: true });
    started.push(child.pid ?? Number.NaN);
    const { url } = JSON.parse(await firstOutput(child)) as { url: string };
    const answers = () =>
      fetch(`${url}/_emulator/clock`).then(
        ({ ok }) => ok,
        () => false,
      );
    const ends = async () => {
      for (let left = 200; await answers(); left -= 1) {
        if (left === 0) throw new Error("the emulator still responds after 20 s");
        await sleep(100);
      }
    };
    return { child, answers, ends };
  }

  const withoutNpm = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("npm_")));

  testOnPosix.each(["SIGTERM", "SIGKILL"] as const)("ends when its npx is ended by %s", async (signal) => {
    const bin = path.join(folder, "node_modules/.bin");
    mkdirSync(bin, { recursive: true });
    writeFileSync(path.join(folder, "package.json"), "{}");
    symlinkSync(main, path.join(bin, "serverless-gpu"));
    const { child, answers, ends } = await startedBy("npx", ["serverless-gpu", "emulator", "--json"], withoutNpm);
    expect(await answers()).toBe(true);
    child.kill(signal);
    await ends();
  });

  testOnPosix("ends with a command of exec when npm was killed", async () => {
    const script =
      "console.log(JSON.stringify({ url: process.env.SERVERLESS_GPU_REST_URL })); setInterval(() => {}, 1000);";
    const command = `"$0" "${main}" emulator exec -- "$0" -e '${script}' & wait`;
    const env = { ...withoutNpm, npm_config_user_agent: "npm/11.0.0 node/v22.0.0" };
    const { child, answers, ends } = await startedBy("sh", ["-c", command, process.execPath], env);
    expect(await answers()).toBe(true);
    child.kill("SIGKILL");
    await ends();
  });

  testOnPosix("continues when the shell that started it without npm has ended", async () => {
    const command = `"$0" "${main}" emulator --json &`;
    const { child, answers } = await startedBy("sh", ["-c", command, process.execPath], withoutNpm);
    if (child.exitCode === null) await once(child, "exit");
    // Four times as long as it takes to see that a parent is gone.
    await sleep(2_000);
    expect(await answers()).toBe(true);
  });
});

describe("serverless-gpu emulator exec", () => {
  const exec = (...command: string[]) => run("emulator", "exec", "--", ...command);

  test("serverless-gpu emulator exec runs a command with the emulator's environment, and exits with its exit code", async () => {
    const script =
      "fetch(process.env.SERVERLESS_GPU_REST_URL + '/v1/pods/x').then((r) => process.exit(r.status - 394))";
    expect((await exec(process.execPath, "-e", script)).code).toBe(7);
  });

  test("serverless-gpu emulator exec passes the arguments on unchanged", async () => {
    const { stdout } = await exec(
      process.execPath,
      "-e",
      "console.log(process.argv.slice(1))",
      "--",
      "a b",
      "--port",
      "$HOME",
    );
    expect(stdout).toBe("[ 'a b', '--port', '$HOME' ]\n");
  });

  test("exits with the same code as a shell would if the command is killed or does not exist", async () => {
    expect((await exec("sh", "-c", "kill -9 $$")).code).toBe(137);
    const missing = await exec("no-such-command");
    expect([missing.code, missing.stderr]).toEqual([
      127,
      expect.stringContaining("no-such-command cannot be started: there is no such program on PATH"),
    ]);
    const none = await run("emulator", "exec");
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining("emulator exec -- npm test")]);
  });

  test.each([
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)("serverless-gpu emulator exec forwards %s to the command and stops with it", async (signal, exitCode) => {
    const child = start(
      "emulator",
      "exec",
      "--",
      process.execPath,
      "-e",
      "console.log('up'); setInterval(() => {}, 1000)",
    );
    await firstOutput(child);
    child.kill(signal);
    expect((await ended(child)).code).toBe(exitCode);
  });
});
