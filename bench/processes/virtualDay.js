// Lets a simulated day of jobs pass at one endpoint, and reports how long that took and how the
// heap grew. Argument: the number of jobs. The jobs are submitted directly to the emulator's
// scheduler, because over HTTP the benchmark would mainly measure HTTP.
const { DEFAULT_POLICY } = require("../../build/emulator/jobs/jobStates");
const { EndpointRuntime } = require("../../build/emulator/endpoints/runtime");
const { ENDPOINT_FIELDS } = require("../../build/emulator/model/endpointFields");
const { fieldsAfter } = require("../../build/emulator/model/fieldTable");
const { seededRandom } = require("../../build/emulator/model/random");
const { createWorkerHost } = require("../../build/emulator/programs/workerHost");
const { createFaults } = require("../../build/emulator/server/faultMatch");
const { manualClock } = require("../../build/emulator/time/virtualClock");
const { exampleContainer } = require("../../build/emulator/workers/container");
const { createEnvironments } = require("../../build/emulator/workers/workerEnv");
const { createWatch } = require("../../build/emulator/workers/watch");

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

async function main() {
  const jobs = Number(process.argv[2]);
  const clock = manualClock(0);
  const runtime = new EndpointRuntime(endpointRecord(), {
    clock,
    profile: "contract",
    random: seededRandom(1).next,
    drainMs: 1000,
    coldStartMs: 10_000,
    staleFlashBoot: false,
    containerOf: exampleContainer,
    environments: createEnvironments(() => undefined, "contract"),
    placesOf: () => [{ dataCenterId: "EU-RO-1", volumeId: null, gpuCount: 1, cpu: null }],
    released() {},
    changed() {},
    watch: createWatch(),
    dropsWebhook: () => false,
    workerFaults: createFaults(
      Math.random,
      () => ({ graphql: [], rest: [], v2: [], queue: [], lb: [] }),
      () => {},
    ).workerFaults,
    workerHost: createWorkerHost(clock, () => {}),
    handlers: {
      worker: async (job, { sleep, random }) => {
        await sleep(1000 + random() * 2000);
        return job.input;
      },
    },
  });
  let submitted = 0;
  const submit = () => {
    runtime.submit("run", { input: { number: ++submitted }, policy: DEFAULT_POLICY });
    if (submitted < jobs) clock.schedule(DAY_MS / jobs, submit);
  };
  clock.schedule(0, submit);

  const heaps = [];
  const startedAt = performance.now();
  let pausedMs = 0;
  for (let hour = 1; hour <= 24; hour++) {
    await clock.advance(HOUR_MS);
    const pausedAt = performance.now();
    global.gc?.();
    heaps.push(process.memoryUsage().heapUsed);
    pausedMs += performance.now() - pausedAt;
  }
  await clock.runUntilIdle();
  const ms = performance.now() - startedAt - pausedMs;
  process.send?.({ ms, completed: runtime.health().jobs.completed, heaps });
}

function endpointRecord() {
  const input = { name: "worker", templateId: "template-1", gpuIds: "AMPERE_24", workersMin: 0, workersMax: 50 };
  const fields = fieldsAfter(
    ENDPOINT_FIELDS,
    undefined,
    { ...input, scalerType: "REQUEST_COUNT", scalerValue: 1 },
    "contract",
  );
  return { ...fields, id: "endpoint-1", createdAt: 0, version: 0, computeType: /** @type {const} */ ("GPU") };
}

main();
