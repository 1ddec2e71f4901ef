import path from "node:path";
import { startEmulator } from "../../emulator";
import { SCRATCH } from "../pulumi/harness";
import { createRepositoryOf } from "../pulumi/ticking";
import { playMonth, type Scheduled, scheduleOf } from "../pulumi/tickMonth";
import { PYTHON, prepareSdk } from "./languages";
import { PLUGIN } from "./plugin";

/*
 * A month of ticks with a program in YAML and one in Python, one over each API. The month has the
 * clock change of Berlin.
 */

const ENDPOINT: Scheduled = {
  timeZone: "Europe/Berlin",
  own: [0, 3],
  rules: [
    { at: { minute: [30], hour: [2], weekday: [0] }, min: 1, max: 2 },
    { at: { minute: [0], hour: [8], weekday: [1] }, min: 2, max: 8 },
    { at: { minute: [45], hour: [19], weekday: [5] }, min: 0 },
  ],
};
const NAME = "llama";
const [workersMin, workersMax] = ENDPOINT.own;
const SCHEDULE = scheduleOf(ENDPOINT);

const project = (runtime: object) => ({
  name: "test",
  runtime,
  plugins: { providers: [{ name: "serverless-gpu", path: path.dirname(PLUGIN) }] },
});

const properties = { gpuIds: ["AMPERE_24"], templateId: "app", workersMin, workersMax, schedule: SCHEDULE };
const resources = { [NAME]: { type: "serverless-gpu:ServerlessEndpoint", properties } };

/** With the names that Python uses. */
const rules = SCHEDULE.rules.map(
  ({ cron, workersMin: min, workersMax: max }) =>
    `{"cron": "${cron}", "workers_min": ${min}${max === undefined ? "" : `, "workers_max": ${max}`}}`,
);
const IN_PYTHON = `import pulumi_serverless_gpu as gpu

gpu.ServerlessEndpoint(
    "${NAME}",
    gpu_ids=["AMPERE_24"],
    template_id="app",
    workers_min=${workersMin},
    workers_max=${workersMax},
    schedule={"time_zone": "${SCHEDULE.timeZone}", "rules": [${rules.join(", ")}]},
)
`;

const virtualenv = path.join(SCRATCH, "clients/pulumi-python/venv");

test.each([
  // JSON is YAML.
  ["YAML", "graphql", { "Pulumi.yaml": JSON.stringify({ ...project({ name: "yaml" }), resources }) }, {}],
  [
    "Python",
    "v2",
    {
      "Pulumi.yaml": JSON.stringify(project({ name: "python", options: { virtualenv } })),
      "__main__.py": IN_PYTHON,
    },
    PYTHON.env,
  ],
] as const)(
  "a month of ticks with a program in %s over %s leaves the service as planned after each quarter of an hour",
  async (language, api, files, env) => {
    if (language === "Python") await prepareSdk(PYTHON);
    await using emulator = await startEmulator({ profile: "contract", drainMs: 0 });
    const stack = await createRepositoryOf(emulator, files, { ...env, SERVERLESS_GPU_API: api });
    const from = Date.parse("2027-03-01");
    const events = await playMonth({ stack, emulator, api, endpoints: { [NAME]: ENDPOINT }, from, days: 31, seed: 0 });
    console.info(`${language} over ${api}: ${JSON.stringify(events)}`);
    const wanted = ["tick", "two at once", "missed for 1", "killed before a request", "killed after a request"];
    expect(wanted.filter((each) => events[each] === undefined)).toEqual([]);
    await stack.dispose();
  },
  3_600_000,
);
