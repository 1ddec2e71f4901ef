import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { send } from "../../support/plainClient";
import { PROTOCOL_WORKER, processesWith, startRealWorkers, stopRealWorkers, until } from "../../support/realWorkers";

afterEach(stopRealWorkers);

const emulatorModule = path.resolve(__dirname, "../../../dist/emulator");
const isLinux = process.platform === "linux";

describe("a worker that fails", () => {
  test.each([
    ["a variable that no process can have", { key: "A", value: "x\u0000y" }, "null character"],
    ["a variable that is too large", { key: "A", value: "x".repeat(200_000) }, "too large"],
  ])("a worker that fails reports in its output that it cannot be started with %s, and its job keeps waiting", async (_name, variable, reason) => {
    const seed = { templates: [{ id: "t", name: "t", imageName: "i", env: [variable] }] };
    const { run, job, output, emulator } = await startRealWorkers(PROTOCOL_WORKER, { templateId: "t" }, { seed });
    const id = await run({});
    await until(() => output("emulator").some((line) => line.includes("cannot be started") && line.includes(reason)));
    expect((await job(id)).status).toBe("IN_QUEUE");
    await emulator.stop();
  });

  test("a worker that fails is stopped while the emulator keeps running, even if another process still writes to its home folder", async () => {
    const writer = 'i=0; while [ $i -lt 300 ]; do mkdir -p "$HOME/d$i"; i=$((i+1)); sleep 0.01; done';
    const escapes = `'${process.execPath}' -e 'require("child_process").spawn("sh", ["-c", process.argv[1]], { detached: true, stdio: "ignore" }).unref()' '${writer}'`;
    const command = `${escapes}; exec ${PROTOCOL_WORKER.command}`;
    const { runSync, emulator, endpointId } = await startRealWorkers({ ...PROTOCOL_WORKER, command });
    await runSync({});
    emulator.endpoints.change(endpointId, { workersMax: 0 });
    await until(() => emulator.endpoints.get(endpointId)?.pods.length === 0);
    await emulator.stop();
  });

  test("[worker.failed-start] a worker that fails is restarted after a pause if its program requests jobs but always exits without a result", async () => {
    const asks =
      "fetch(process.env.RUNPOD_WEBHOOK_GET_JOB, { headers: { authorization: process.env.RUNPOD_AI_API_KEY } })";
    const command = `exec '${process.execPath}' -e '${asks}; setTimeout(() => process.exit(0), 100)'`;
    const { output } = await startRealWorkers({ command }, { workersMin: 1 });
    await until(() => output("emulator").filter((line) => line.endsWith("started")).length >= 3);
    const before = performance.now();
    await until(() => output("emulator").filter((line) => line.endsWith("started")).length >= 5);
    expect(performance.now() - before).toBeGreaterThan(1000);
  });

  test("[worker.init-timeout] a worker that fails is stopped if its program never requests a job", async () => {
    const program = { command: "exec sleep 300", env: { RUNPOD_INIT_TIMEOUT: "1" } };
    const { run, output } = await startRealWorkers(program);
    await run({});
    await until(() => output("emulator").length > 2);
    expect(output("emulator")[1]).toMatch(/has not asked for a job within 1 s: it is ended/);
    expect(output("emulator")[2]).toMatch(/was ended by SIGKILL before it asked for a job$/);
  });
});

test("[worker.stop-job-again] a worker is asked again to stop a job that is cancelled while the worker is still preparing it", async () => {
  const command = 'echo "$RUNPOD_AI_API_KEY $RUNPOD_POD_ID"; exec sleep 60';
  const { run, post, output, emulator, endpointId } = await startRealWorkers({ command }, { workersMin: 1 });
  await until(() => output("stdout").length > 0);
  const [authorization = "", worker] = output("stdout")[0]?.split(" ") ?? [];
  const call = (operation: string) =>
    send(`${emulator.url}/v2/${endpointId}/${operation}/${worker}?`, { headers: { authorization } });
  const id = await run({});
  expect((await call("job-take")).body.id).toBe(id);
  await post(`cancel/${id}`);
  expect((await call("job-stop")).body).toEqual({ jobsToStop: [id] });
  const before = performance.now();
  expect((await call("job-stop")).body).toEqual({ jobsToStop: [id] });
  expect(performance.now() - before).toBeGreaterThan(500);
});

describe("worker output", () => {
  const printing = (script: string) => ({
    ...PROTOCOL_WORKER,
    command: `'${process.execPath}' -e '${script}'; exec ${PROTOCOL_WORKER.command}`,
  });

  test("worker output is split into several lines if a line is too long", async () => {
    const { runSync, output } = await startRealWorkers(
      printing('process.stdout.write("z".repeat(20000) + "\\nend\\n")'),
    );
    await runSync({});
    expect(output("stdout").map(({ length }) => length)).toEqual([8192, 8192, 3616, 3]);
  });

  test("worker output does not fill the memory, because only the end of 60 MB of output is kept in the journal", async () => {
    const script = `const line = "y".repeat(8000) + "\\n"; let left = 7500;
      (function print() { while (left-- > 0) if (!process.stdout.write(line)) return process.stdout.once("drain", print); })()`;
    const { runSync, output } = await startRealWorkers(printing(script.replaceAll("\n", " ")));
    await runSync({ print: "the end" });
    await until(() => output("stdout").at(-1) === "the end");
    const size = output().reduce((sum, line) => sum + line.length, 0);
    expect(size).toBeGreaterThan(5_000_000);
    expect(size).toBeLessThan(25_000_000);
  });
});

(isLinux ? test : test.skip)("[worker.orphan] a worker that hangs ends with an emulator that is killed", async () => {
  const mark = `hangs-${process.pid}`;
  const options = {
    handlers: { worker: { ...PROTOCOL_WORKER, env: { MARK: mark } } },
    seed: { endpoints: [{ id: "e", name: "worker", gpuIds: "ADA_24", templateId: "t" }] },
  };
  const script = `require(${JSON.stringify(emulatorModule)}).startEmulator(${JSON.stringify({ profile: "contract", ...options })}).then(async (emulator) => {
      emulator.faults.add({ effect: { hangWorker: true } });
      const headers = { authorization: emulator.apiKey, "content-type": "application/json" };
      const job = fetch(emulator.url + "/v2/e/runsync", { method: "POST", headers, body: '{"input":{"n":1}}' });
      while (emulator.faults.list()[0].applied === 0) await new Promise((resolve) => setTimeout(resolve, 20));
      console.log("hangs");
      await job;
    });`;
  const child = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  await sleep(100);
  expect(processesWith("MARK", mark).length).toBeGreaterThan(1);
  child.kill("SIGKILL");
  await once(child, "exit");
  await until(() => processesWith("MARK", mark).length === 0);
});
