import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { type EndpointSeed, startEmulator } from "../../emulator";
import { version } from "../../package.json";
import { createStack, endpointsIn, type State, type StateResource } from "./harness";

const FIXTURES = path.resolve(__dirname, "../fixtures");
const ADDRESS = "http://emulator.invalid";
/**
 * The fields of an endpoint at the service. Listed here, because there may be more fields today
 * than in the state.
 */
const ENDPOINT_FIELDS = [
  "name",
  "gpuIds",
  "templateId",
  "idleTimeout",
  "locations",
  "flashBootType",
  "scalerType",
  "scalerValue",
  "workersMin",
  "workersMax",
  "networkVolumeId",
];

const versions = readdirSync(FIXTURES).flatMap((file) => /^state-(.*)\.json$/.exec(file)?.[1] ?? []);

const read = (file: string) => readFileSync(path.join(FIXTURES, file), "utf8");

/** Returns the endpoint that a resource of the state describes. */
function seedOf({ id, outputs = {} }: StateResource): EndpointSeed {
  const fields = Object.entries(outputs).filter(([field]) => ENDPOINT_FIELDS.includes(field));
  return { id, ...Object.fromEntries(fields) } as unknown as EndpointSeed;
}

test("the state of the current version is stored as a fixture", () => {
  expect(versions).toContain(version.replace(/\.\d+$/, ""));
});

/** The named service has more fields than the contract, and older state has none of them. */
const SERVICES = [
  { env: {}, profile: "contract" },
  { env: { SERVERLESS_GPU_SERVICE: "runpod" }, profile: "observed" },
] as const;

test.each(
  versions.flatMap((release) => SERVICES.map((service) => [release, service.profile, service.env] as const)),
)("a state that version %s wrote is read, refreshed, destroyed and released in the %s profile", async (release, profile, env) => {
  await using emulator = await startEmulator({ apiKey: "local-emulator-key", drainMs: 100, profile });
  const state: State = JSON.parse(read(`state-${release}.json`).replaceAll(ADDRESS, emulator.url));
  const endpoints = endpointsIn(state);
  emulator.seed({ endpoints: endpoints.map(seedOf) });
  const stack = await createStack({ program: read(`state-${release}.program.js`), env: { ...emulator.env, ...env } });
  await stack.importState(state);
  await stack.preview("--expect-no-changes");
  await stack.preview("--refresh", "--expect-no-changes");

  const drifted = endpoints.find(({ urn }) => urn.endsWith("::full"))?.id ?? "";
  emulator.endpoints.change(drifted, { gpuIds: "AMPERE_80" });
  await stack.refresh();
  const refreshed = endpointsIn(await stack.exportState());
  expect(refreshed).toHaveLength(endpoints.length);
  expect(refreshed.find(({ id }) => id === drifted)?.outputs).toMatchObject({ gpuIds: "AMPERE_80" });

  await stack.destroy();
  // What was adopted is released.
  const left = emulator.endpoints.list().map(({ id }) => id);
  expect(left.sort()).toEqual(["adopted-1", "theirs-1"]);
  expect((await stack.exportState()).deployment.resources ?? []).toEqual([]);
});

// Writes the fixture of a release: WRITE_STATE=0.1 npx jest test/pulumi/oldState -t "is written"
(process.env.WRITE_STATE ? test : test.skip)("the state of a release is written", async () => {
  const release = process.env.WRITE_STATE;
  await using emulator = await startEmulator({ profile: "contract", apiKey: "local-emulator-key", randomSeed: 1 });
  const theirs = { name: "by hand", gpuIds: "AMPERE_16", templateId: "template" };
  emulator.seed({ endpoints: ["adopted-1", "theirs-1"].map((id) => ({ ...theirs, id })) });
  const stack = await createStack({ program: read(`state-${release}.program.js`), env: emulator.env });
  await stack.up();
  // The engine's record of source positions is long and not ours.
  const withoutTraces = (key: string, value: unknown) =>
    ["stackTrace", "sourcePosition"].includes(key) ? undefined : value;
  const text = JSON.stringify(await stack.exportState(), withoutTraces, 2).replaceAll(emulator.url, ADDRESS);
  writeFileSync(path.join(FIXTURES, `state-${release}.json`), `${text}\n`);
});
