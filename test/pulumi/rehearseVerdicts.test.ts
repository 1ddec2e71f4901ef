import path from "node:path";
import { type Emulator, startEmulator } from "../../emulator";
import { bursts } from "../support/bursts";
import { REHEARSE_COMPILED } from "../support/compiledCode";
import { IS_EVERYWHERE } from "../support/everywhere";
import { createStack, type PulumiStack } from "./harness";

const COMMAND = path.resolve(__dirname, "../../dist/cli/main.js");

const HEAD = `
const pulumi = require("@pulumi/pulumi");
const { ContainerRegistryAuth, NetworkVolume, ServerlessEndpoint, ServerlessTemplate } = require("pulumi-serverless-gpu");
`;

/** Three endpoints share a template; `busy` and `calm` are played. */
const PROGRAM = `${HEAD}
const hub = new ContainerRegistryAuth("hub", { name: "hub", username: "me", password: "word" });
const image = new ServerlessTemplate("image", {
  name: "image", imageName: "ghcr.io/me/llama:1", containerRegistryAuthId: hub.id,
});
const kept = new ContainerRegistryAuth("kept", { name: "kept", username: "me", password: "word" }, { protect: true });
new ServerlessTemplate("other", { name: "other", imageName: "ghcr.io/me/other:1", containerRegistryAuthId: kept.id });
const models = new NetworkVolume("models", { name: "models", size: 20, dataCenterId: "EU-RO-1" });
const busy = new ServerlessEndpoint("busy", {
  templateId: image.id, gpuIds: ["AMPERE_24"], scalerType: "QUEUE_DELAY", scalerValue: 4,
  workersMin: 1, workersMax: 10, idleTimeout: 60, executionTimeoutMs: 600000,
});
const calm = new ServerlessEndpoint("calm", {
  templateId: image.id, gpuIds: ["AMPERE_24", "ADA_24", "-NVIDIA L4", "-NVIDIA RTX A5000"],
  locations: ["EU-RO-1", "EU-CZ-1"], workersMax: 1, idleTimeout: 5,
});
new ServerlessEndpoint("stored", { templateId: image.id, gpuIds: ["ADA_24"], workersMax: 1, networkVolumeId: models.id });
exports.url = busy.queueUrl;
`;

/** The same resources, written in another way. */
const REWRITTEN = `${HEAD}
// The endpoints come first in this file, and the names are longer.
class Service extends pulumi.ComponentResource {
  constructor(name, args) {
    super("test:index:Service", name);
    this.endpoint = new ServerlessEndpoint("busy", {
      ...args, executionTimeoutMs: 600000, idleTimeout: 60, workersMax: 10, workersMin: 1, scalerValue: 4,
    }, { parent: this, aliases: [{ parent: pulumi.rootStackResource }] });
  }
}
const models = new NetworkVolume("models", { dataCenterId: "EU-RO-1", size: 20, name: "models" });
const credential = new ContainerRegistryAuth(
  "credential", { name: "hub", username: "me", password: "word" }, { aliases: [{ name: "hub" }] },
);
const kept = new ContainerRegistryAuth("kept", { password: "word", username: "me", name: "kept" }, { protect: true });
new ServerlessTemplate("other", { containerRegistryAuthId: kept.id, imageName: "ghcr.io/me/other:1", name: "other" });
const image = new ServerlessTemplate("image", {
  containerRegistryAuthId: credential.id, imageName: "ghcr.io/me/llama:1", name: "image",
});
new ServerlessEndpoint("stored", { networkVolumeId: models.id, workersMax: 1, gpuIds: ["ADA_24"], templateId: image.id });
new ServerlessEndpoint("calm", {
  templateId: image.id, gpuIds: "AMPERE_24, ADA_24, -NVIDIA RTX A5000, -NVIDIA L4", locations: " EU-CZ-1 , EU-RO-1",
  gpuCount: 1, scalerType: "QUEUE_DELAY", scalerValue: 4, workersMin: 0, workersMax: 1, idleTimeout: 5,
});
const { endpoint } = new Service("service", { templateId: image.id, gpuIds: " AMPERE_24 ", scalerType: "QUEUE_DELAY" });
exports.address = endpoint.queueUrl;
exports.id = endpoint.id;
`;

const PROJECT = `# Another version of the interpreter.
name: test
description: Endpoints of the team
runtime:
  name: nodejs
  options:
    typescript: false
    nodeargs: --no-warnings
`;

/** Two hours with a job of 3 s about every 6 s, and a few more in the second one. */
function steady(): string {
  const first = Array.from({ length: 554 }, (_, job) => `${job * 6.5},3`);
  const second = Array.from({ length: 600 }, (_, job) => `${3600 + job * 6},3`);
  return `arrival_s,duration_s\n${[...first, ...second].join("\n")}\n`;
}

/** Limits that the program before the change keeps. */
const ASSUMED = ["--seeds", "3", "--cold-start", "30s", "--ttl", "1h"];
const BUSY = [
  "--load",
  "bursts.csv",
  "--endpoint",
  "busy",
  ...ASSUMED,
  "--max-p95",
  "39s",
  "--max-cost",
  "4500/month",
  "--max-during",
  "p50=30s,p95=60s,lost=0",
];
const CALM = ["--load", "steady.csv", "--endpoint", "calm", ...ASSUMED, "--max-p95", "5s", "--max-during", "p99=5s"];

let emulator: Emulator;
let stack: PulumiStack;

beforeAll(async () => {
  emulator = await startEmulator({ profile: "observed", drainMs: 0, coldStartMs: 0, workerQuota: 30 });
  stack = await createStack({ program: PROGRAM, env: emulator.env });
  await stack.writeFile("bursts.csv", bursts());
  await stack.writeFile("steady.csv", steady());
  await stack.up();
});
afterAll(() => emulator.stop());

async function rehearsed(program: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  await stack.writeProgram(program);
  const words = [
    COMMAND,
    "check",
    "--rehearse",
    "--stack",
    "dev",
    "--from-state",
    "--json",
    ...args,
    ...REHEARSE_COMPILED,
  ];
  const { exitCode, stdout, output } = await stack.exec(process.execPath, words, { env });
  if (!stdout.startsWith("{")) throw new Error(output);
  const { checks, applied, load } = JSON.parse(stdout);
  const failed = checks.filter(({ result }: { result: string }) => result === "limit" || result === "danger");
  const short = applied.changes.map(
    ({ what, resource, properties }: { what: string; resource: string; properties: string[] }) =>
      `${what} ${resource}: ${properties.join()}`,
  );
  return { exitCode, failed, changes: short.sort(), left: applied.left, load };
}

test.each(
  [
    { name: "calm", args: CALM, api: "v2" },
    { name: "busy", args: BUSY, api: "graphql" },
    { name: "busy", args: BUSY, api: "v2" },
    { name: "calm", args: CALM, api: "graphql" },
  ].slice(0, IS_EVERYWHERE ? 4 : 1),
)("A program that expresses the same settings differently keeps every limit of the endpoint $name over $api, even with a protected registry credential", async ({
  args,
  api,
}) => {
  await stack.writeFile("Pulumi.yaml", PROJECT);
  const { load, ...rest } = await rehearsed(REWRITTEN, args, { SERVERLESS_GPU_API: api });
  // Pulumi records values that the program now gives, although the service has them already.
  const changes = ["updated calm: gpuCount,scalerType,scalerValue,workersMin"];
  expect(rest).toEqual({ exitCode: 0, failed: [], changes, left: [] });
  const [before, after] = load.report.results;
  expect(after).toEqual({ ...before, title: "After" });
});

interface Case {
  /** What is replaced in the program, and by what. */
  readonly edits: readonly (readonly [string, string])[];
  readonly args: readonly string[];
  /** The rows of the verdict that fail. */
  readonly reasons: readonly (readonly [what: string, text: RegExp])[];
  readonly changes: readonly string[];
  /**
   * `true` if another case gives the same reason. These are played by `npm run test:everywhere`,
   * and all reasons also without an engine (test/cli/forecast/change.test.ts).
   */
  readonly isRepeated?: boolean;
}

const CASES: Readonly<Record<string, Case>> = {
  "idleTimeout from 5 to 1": {
    isRepeated: true,
    edits: [["idleTimeout: 5,", "idleTimeout: 1,"]],
    args: CALM,
    reasons: [["load", /^calm: the p95 delay can be .* more than 5 s/]],
    changes: ["updated calm: idleTimeout"],
  },
  "workersMax from 10 to 2": {
    // rehearse.test.ts exceeds a limit of the delay.
    isRepeated: true,
    edits: [["workersMax: 10", "workersMax: 2"]],
    args: BUSY,
    reasons: [
      ["load", /^busy: the p95 delay can be .* more than 39 s/],
      ["load", /^busy: the p95 delay during the change can be/],
    ],
    changes: ["updated busy: workersMax"],
  },
  "workersMin from 1 to 0": {
    isRepeated: true,
    edits: [["workersMin: 1", "workersMin: 0"]],
    args: BUSY,
    reasons: [["load", /^busy: the p95 delay can be .* more than 39 s/]],
    changes: ["updated busy: workersMin"],
  },
  "an image that crashes": {
    edits: [["llama:1", "llama:2"]],
    args: [...BUSY, "--fault", '{"match":{"imageName":"ghcr.io/me/llama:2"},"effect":{"crashLoop":true}}'],
    reasons: [
      ["load", /^busy: [\d,]+ jobs .* can be lost or time out, more than 0 \(--max-lost\)/],
      ["load", /^busy: [\d,]+ jobs can be lost or time out during the change/],
    ],
    changes: ["rolled out busy: ", "rolled out calm: ", "rolled out stored: ", "updated image: imageName"],
  },
  "executionTimeoutMs below the 99th percentile of the jobs": {
    isRepeated: true,
    edits: [["executionTimeoutMs: 600000", "executionTimeoutMs: 16500"]],
    args: BUSY,
    reasons: [["load", /^busy: [\d,]+ jobs .* can be lost or time out/]],
    changes: ["updated busy: executionTimeoutMs"],
  },
  "gpuCount from 1 to 2 with a limit of the cost, and locations to a data center without stock": {
    edits: [
      ["scalerValue: 4,", "scalerValue: 4, gpuCount: 2,"],
      ['locations: ["EU-RO-1", "EU-CZ-1"]', 'locations: ["US-TX-3"]'],
    ],
    args: [...BUSY, "--strict", "--fault", '{"match":{"dataCenterId":"US-TX-3"},"effect":{"soldOut":true}}'],
    reasons: [
      ["load", /^busy: it can cost \$[\d,.]+ a month, more than \$4,500/],
      ["unlikely", /calm: .*US-TX-3/],
    ],
    changes: ["rolled out busy: gpuCount", "updated calm: locations"],
  },
  "the scaler from QUEUE_DELAY to REQUEST_COUNT 50": {
    isRepeated: true,
    edits: [['"QUEUE_DELAY", scalerValue: 4', '"REQUEST_COUNT", scalerValue: 50']],
    args: BUSY,
    reasons: [["load", /^busy: the p95 delay can be .* more than 39 s/]],
    changes: ["updated busy: scalerType,scalerValue"],
  },
  "the type from QUEUE to LOAD_BALANCER, and the order of the pools in gpuIds": {
    edits: [
      ['"QUEUE_DELAY", scalerValue: 4', '"REQUEST_COUNT", scalerValue: 4, type: "LOAD_BALANCER"'],
      ['"AMPERE_24", "ADA_24"', '"ADA_24", "AMPERE_24"'],
    ],
    args: BUSY,
    reasons: [["load", /^busy: after the change it is a load balancer, which has no queue/]],
    changes: ["replaced busy: ", "rolled out calm: gpuIds"],
  },
  "a template that endpoints share": {
    isRepeated: true,
    edits: [["llama:1", "llama:2"]],
    args: CALM,
    reasons: [["load", /^calm: the p99 delay during the change can be .* more than 5 s/]],
    changes: ["rolled out busy: ", "rolled out calm: ", "rolled out stored: ", "updated image: imageName"],
  },
  "a removed credential": {
    edits: [
      [", containerRegistryAuthId: hub.id", ""],
      [/const hub = .*/.exec(PROGRAM)?.[0] ?? "", ""],
    ],
    args: ["--strict"],
    reasons: [["unlikely", /^image: the change removes its registry credential, so workers can start only if/]],
    changes: [
      "deleted hub: ",
      "rolled out busy: ",
      "rolled out calm: ",
      "rolled out stored: ",
      "updated image: containerRegistryAuthId",
    ],
  },
};

test.each(
  Object.entries(CASES).filter(([, { isRepeated }]) => IS_EVERYWHERE || !isRepeated),
)("The verdict takes %s into account, and says why", async (_, { edits, args, reasons, changes }) => {
  let program = PROGRAM;
  for (const [from, to] of edits) {
    expect(program).toContain(from);
    program = program.replace(from, to);
  }
  const { exitCode, failed, changes: shown } = await rehearsed(program, args);
  for (const [what, text] of reasons)
    expect(failed).toContainEqual(expect.objectContaining({ what, text: expect.stringMatching(text) }));
  expect(shown).toEqual(changes);
  expect(exitCode).toBe(failed.some(({ result }: { result: string }) => result === "danger") ? 4 : 3);
});
