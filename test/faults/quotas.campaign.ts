import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { type Emulator, startEmulator } from "../../emulator";
import type { ManagementApi } from "../../sdk";
import { createStack, type PulumiStack } from "../pulumi/harness";

/** For a shorter try: `QUOTAS_COUNT=10 npm run test:faults -- quotas`. */
const COUNT = Number(process.env.QUOTAS_COUNT ?? 100);

/** Git-ignored. */
const FOLDER = path.resolve(__dirname, "../../.scratch/faults");

/** The settings of each fleet, and what its update adds. */
const FLEETS = {
  "with a template": [`templateId: "template"`, "idleTimeout: 77"],
  "with own containers": [
    `imageName: "me/app:1", env: { INDEX: String(i) }, gpuCount: 2, executionTimeoutMs: 1_800_000,
    minCudaVersion: "12.8"`,
    `imageName: "me/app:2"`,
  ],
} as const;

const program = (args: string) => `
const { ServerlessEndpoint } = require("pulumi-serverless-gpu");
for (let i = 0; i < ${COUNT}; i++) {
  new ServerlessEndpoint("endpoint-" + i, { gpuIds: "AMPERE_24", workersMax: 1, ${args} });
}
`;

const COMMANDS: Readonly<Record<string, (stack: PulumiStack, changed: string) => Promise<unknown>>> = {
  up: (stack) => stack.up(),
  preview: (stack) => stack.preview("--expect-no-changes"),
  "preview --refresh": (stack) => stack.preview("--refresh", "--expect-no-changes"),
  refresh: (stack) => stack.refresh("--expect-no-changes"),
  async update(stack, changed) {
    await stack.writeProgram(changed);
    await stack.up();
  },
  destroy: (stack) => stack.destroy(),
};

interface Row {
  readonly api: ManagementApi;
  readonly fleet: keyof typeof FLEETS;
  readonly command: string;
  /** Requests to each management interface. */
  readonly graphql: number;
  readonly v2: number;
  /** Requests that were refused with 429. */
  readonly refused: number;
  /** The most requests in any 60 seconds. */
  readonly busiest: number;
  readonly seconds: number;
  readonly endpoints: number;
}

const rows: Row[] = [];

const CASES = (["graphql", "v2"] as const).flatMap((api) =>
  (["with a template", "with own containers"] as const).map((fleet) => [fleet, api] as const),
);

test.each(CASES)(
  `${COUNT} endpoints %s over %s with the published quotas: each command ends`,
  async (fleet, api) => {
    const rateLimits = { graphql: "real", management: "real" } as const;
    await using emulator = await startEmulator({ profile: "observed", drainMs: 0, rateLimits });
    const [settings, changes] = FLEETS[fleet];
    const stack = await createStack({
      program: program(settings),
      env: { ...emulator.env, SERVERLESS_GPU_SERVICE: "runpod", SERVERLESS_GPU_API: api },
    });
    for (const [command, execute] of Object.entries(COMMANDS)) {
      emulator.journal.clear();
      const begun = performance.now();
      await execute(stack, program(`${settings}, ${changes}`));
      rows.push({
        api,
        fleet,
        command,
        ...requestsOf(emulator),
        seconds: Math.round((performance.now() - begun) / 1000),
      });
    }
    expect(emulator.endpoints.list()).toEqual([]);
    expect(emulator.templates.list()).toEqual([]);
    const up = rows.find((row) => row.api === api && row.fleet === fleet && row.command === "up");
    expect(up?.endpoints).toBe(COUNT);
  },
  3_600_000,
);

function requestsOf({ journal, endpoints }: Emulator): Omit<Row, "api" | "fleet" | "command" | "seconds"> {
  const requests = journal.requests();
  const times = requests.map(({ at }) => at);
  const within = (from: number) => times.filter((time) => time >= from && time < from + 60_000).length;
  return {
    graphql: requests.filter((request) => request.interface === "graphql").length,
    v2: requests.filter((request) => request.interface === "v2").length,
    refused: requests.filter(({ status }) => status === 429).length,
    busiest: Math.max(0, ...times.map(within)),
    endpoints: endpoints.list().length,
  };
}

afterAll(() => {
  const names = [
    "interface",
    "fleet",
    "command",
    "GraphQL",
    "REST v2",
    "429",
    "most in a minute",
    "seconds",
    "endpoints after",
  ];
  const lines = rows.map((row) => [
    row.api,
    row.fleet,
    row.command,
    row.graphql,
    row.v2,
    row.refused,
    row.busiest,
    row.seconds,
    row.endpoints,
  ]);
  const table = [names, ["---", "---", "---", ...names.slice(3).map(() => "--:")], ...lines].map(
    (cells) => `| ${cells.join(" | ")} |`,
  );
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(path.join(FOLDER, "quotas.md"), `${table.join("\n")}\n`);
  process.stdout.write(`\n${table.join("\n")}\n${path.join(FOLDER, "quotas")}.md\n`);
});
