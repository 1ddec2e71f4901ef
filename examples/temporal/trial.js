// @ts-nocheck
// Runs 300 inputs on an emulator, kills the worker three times, and counts how often each input
// ran. Needs the command `temporal` on PATH.
const { spawn } = require("node:child_process");
const { setTimeout: pause } = require("node:timers/promises");
const { Client, Connection } = require("@temporalio/client");
const { startEmulator } = require("pulumi-serverless-gpu/emulator");

const INPUTS = 300;
const KILLS = 3;
const ADDRESS = "127.0.0.1:7233";

async function connected() {
  for (;;) {
    try {
      return await Connection.connect({ address: ADDRESS });
    } catch {
      await pause(500);
    }
  }
}

async function main() {
  const runs = new Map();
  const emulator = await startEmulator({
    coldStartMs: 0,
    handlers: {
      pages: async ({ input }, { sleep }) => {
        runs.set(input.n, (runs.get(input.n) ?? 0) + 1);
        await sleep(500);
        return { n: input.n };
      },
    },
  });
  const settings = { name: "pages", gpuIds: "ADA_24", templateId: "t", workersMin: 10, workersMax: 10 };
  const { id } = emulator.endpoints.create(settings);
  const server = spawn("temporal", ["server", "start-dev", "--headless", "--log-level", "error"], { stdio: "inherit" });
  const client = new Client({ connection: await connected() });
  const env = { ...process.env, ...emulator.env };
  const startWorker = () => spawn(process.execPath, [`${__dirname}/worker.js`], { env, stdio: "ignore" });

  let worker = startWorker();
  // The workflow's id is the input's key, so a second start of the batch starts nothing twice.
  const start = (n) =>
    client.workflow.start("runInput", {
      taskQueue: "batches",
      workflowId: `pages-${n}`,
      workflowIdReusePolicy: "REJECT_DUPLICATE",
      args: [id, { n }],
    });
  const handles = [];
  for (let n = 0; n < INPUTS; n++) handles.push(await start(n));
  const again = await Promise.allSettled([start(0), start(1)]);
  for (let kill = 0; kill < KILLS; kill++) {
    const before = runs.size;
    while (runs.size < Math.min(INPUTS, before + INPUTS / (KILLS + 2))) await pause(50);
    worker.kill("SIGKILL");
    worker = startWorker();
  }
  const ends = await Promise.allSettled(handles.map((handle) => handle.result()));
  const uncertain = ends.flatMap(({ status }, n) => (status === "rejected" ? [`pages-${n}`] : []));
  const twice = [...runs.values()].filter((count) => count > 1).length;
  console.log(`${INPUTS - uncertain.length} of ${INPUTS} have a result, ${twice} ran twice, ${KILLS} kills`);
  console.log(`${uncertain.length} are uncertain: ${uncertain.join(" ")}`);
  console.log(`${again.filter(({ status }) => status === "rejected").length} of 2 second starts were refused`);
  worker.kill();
  server.kill();
  await emulator.stop();
  process.exit(twice > 0 ? 1 : 0);
}

main();
