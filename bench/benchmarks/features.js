const { startEmulator } = require("../../dist/emulator");
const { createStack, WITHOUT_CHECKPOINTS } = require("../engine");
const { inTurn } = require("../runner");
const { tally } = require("./lifecycle");

/*
 * What checks, waits, tests and roll-outs add at the service `runpod`, with its published quotas
 * on. The engine runs 64 operations at once and writes no checkpoints, which would hide the rest.
 */

const UP = ["up", "--yes", "--skip-preview", "--parallel", "64"];

/** @typedef {{ seconds: number, requests: number }} Measured */

/**
 * @typedef {object} Feature
 * @property {string} what
 * @property {string} settings of each endpoint, as source code
 * @property {string} [more] other resources for each endpoint
 * @property {boolean} [isUpdate] `true` if an update is measured
 * @property {boolean} [isUnnamed] `true` for a service whose catalog the provider does not know
 * @property {boolean} [isFree] `true` without the quotas
 * @property {string} [against] the feature to compare with
 * @property {number} requests the most requests that it may add to each endpoint
 * @property {number} seconds the most seconds that it may add
 */

const OWN = `imageName: "me/app:" + process.env.VERSION, workersMin: 1, workersMax: 1`;

/** @type {Record<string, Feature>} */
const FEATURES = {
  plain: { what: "up", settings: 'templateId: "template-1"', requests: 1.1, seconds: 0 },
  unchecked: {
    what: "up without the catalog's check",
    settings: 'templateId: "template-1"',
    isUnnamed: true,
    isFree: true,
    requests: 1.1,
    seconds: 0,
  },
  catalog: {
    what: "the catalog's check",
    settings: 'templateId: "template-1"',
    isFree: true,
    against: "unchecked",
    requests: 0.1,
    seconds: 2,
  },
  ready: {
    what: "awaitReady",
    settings: 'templateId: "template-1", workersMin: 1, workersMax: 1, awaitReady: true',
    against: "plain",
    requests: 3,
    seconds: 10,
  },
  smokeTest: {
    what: "a SmokeTest of each",
    settings: 'templateId: "template-1", workersMax: 1',
    more: "new SmokeTest(name, { endpointId: endpoint.id, input: { prompt: name } });",
    against: "plain",
    requests: 4,
    seconds: 15,
  },
  update: { what: "update of the image", settings: OWN, isUpdate: true, requests: 2.2, seconds: 0 },
  rollOut: {
    what: "rollOut with a test",
    settings: `${OWN}, rollOut: { test: { input: { prompt: "a" } } }`,
    isUpdate: true,
    against: "update",
    requests: 10,
    seconds: 60,
  },
};

/** @param {Feature} feature */
const programOf = ({ settings, more = "" }) => `
const { ServerlessEndpoint, SmokeTest } = require("pulumi-serverless-gpu");
for (let number = 1; number <= Number(process.env.COUNT); number++) {
  const name = \`endpoint-\${number}\`;
  const endpoint = new ServerlessEndpoint(name, { name, gpuIds: "AMPERE_24", ${settings} });
  ${more}
}
`;

/** @param {import("../runner").Settings} settings */
async function run({ quick, log }) {
  // The rate limits determine the times. The rollout of 300 endpoints waits ten minutes for them.
  const [count, runs] = quick ? [20, 1] : [300, 1];
  /** @type {Record<string, Measured>[]} */
  const all = [];
  for (let run = 0; run < runs; run++) {
    const works = Object.entries(FEATURES).map(([name, feature]) => [name, () => measured(feature, count, log)]);
    all.push(await inTurn(run, Object.fromEntries(works)));
  }
  return Object.entries(FEATURES).flatMap(([name, feature]) => rowsOf(name, feature, count, all));
}

/**
 * @param {Feature} feature
 * @param {number} count
 * @param {(line: string) => void} log
 * @returns {Promise<Measured>}
 */
async function measured(feature, count, log) {
  const emulator = await startEmulator({
    profile: "observed",
    drainMs: 0,
    coldStartMs: 200,
    rateLimits: { graphql: feature.isFree ? "off" : "real" },
  });
  const { SERVERLESS_GPU_SERVICE: _, ...unnamed } = emulator.env;
  const stack = await createStack(programOf(feature), feature.isUnnamed ? unnamed : emulator.env);
  try {
    const env = { ...WITHOUT_CHECKPOINTS, COUNT: String(count), VERSION: "1" };
    if (feature.isUpdate) await stack.pulumi(UP, env);
    emulator.journal.clear();
    const ms = await stack.pulumi(UP, { ...env, VERSION: "2" });
    const requests = emulator.journal.requests();
    const refused = requests.filter(({ status }) => status === 429).length;
    const operations = emulator.journal.operations();
    log(`${feature.what}: ${Math.round(ms)} ms, ${refused} refused; ${tally(operations)}`);
    return { seconds: ms / 1000, requests: operations.length };
  } finally {
    stack.remove();
    await emulator.stop();
  }
}

/**
 * @param {string} name
 * @param {Feature} feature
 * @param {number} count
 * @param {readonly Record<string, Measured>[]} all
 * @returns {import("../runner").Row[]}
 */
function rowsOf(name, { what, against, requests, seconds, isFree }, count, all) {
  const each = (/** @type {string} */ of) => all.map((run) => (run[of]?.requests ?? Number.NaN) / count);
  const times = (/** @type {string} */ of) => all.map((run) => run[of]?.seconds ?? Number.NaN);
  const quotas = isFree ? "" : ", with the quotas";
  const peer = against === undefined ? undefined : FEATURES[against]?.what;
  if (against === undefined || peer === undefined) {
    const value = { ours: each(name), judged: /** @type {const} */ ("value"), mark: { atMost: requests } };
    return [{ what: `${what} of ${count}${quotas}: requests for each`, unit: "", ...value }];
  }
  const compared = { against: peer, judged: /** @type {const} */ ("difference") };
  return [
    {
      what: `${what}, ${count} endpoints: requests for each`,
      unit: "",
      ...compared,
      ours: each(name),
      theirs: each(against),
      mark: { atMost: requests },
    },
    {
      what: `${what}, ${count} endpoints${quotas}`,
      unit: "s",
      ...compared,
      ours: times(name),
      theirs: times(against),
      mark: { atMost: seconds },
    },
  ];
}

module.exports = { title: "what checks, waits, tests and rollouts add", run };
