import path from "node:path";
import { faultChoices } from "../../../emulator/server/faultRule";
import type { ManagementApi } from "../../../sdk";
import { IS_EVERYWHERE } from "../../support/everywhere";
import { noPrometheus, promtool } from "../../support/prometheus";
import { ACCOUNT_FAULTS, ENDPOINT_FAULTS, type Fault, RARELY_BUSY } from "./faults";
import { type Firing, firingIn, RULES, withRules } from "./firing";
import { FLEET_KINDS, type FleetEndpoint, type FleetKind, fleetOf } from "./fleet";
import { beginS, endS, type FaultyEndpoint, type FleetPlan, playFleet, RECOVERS_S, WARM_UP_S } from "./playFleet";

const title = noPrometheus ? ` (${noPrometheus})` : "";
const describeWith = noPrometheus ? describe.skip : describe;
const table: string[] = [];
afterAll(() => {
  if (table.length > 0)
    process.stdout.write(`| what | endpoints | fires after (min) | ends after (min) |\n${table.join("\n")}\n`);
});

// `npm run test:everywhere` plays more endpoints for longer. Rules look back six hours.
const [MANY, CLEAN_HOURS] = IS_EVERYWHERE ? [300, 7 * 24] : [30, 8];

/** All entries of a table, or without `npm run test:everywhere` every sixth. */
const some = <T>(table: Readonly<Record<string, T>>) =>
  Object.entries(table).filter((_, at) => IS_EVERYWHERE || at % 6 === 0);

/** The kinds of endpoints of an account with a fault. */
const ACCOUNT_KINDS: readonly FleetKind[] = IS_EVERYWHERE ? FLEET_KINDS : ["delay3", "warm", "balancer"];

/** Faults of an account that cause the alerts of another fault of the table, or none like it. */
const LIKE_OTHERS = [
  ...["html", "truncated", "reset", "graphqlError"],
  ...["latencyMs", "listLagMs", "dropWebhook", "stock"],
];

const canHave = ({ kinds }: Fault, { kind, isBalancer }: FleetEndpoint) =>
  !isBalancer && (kinds === undefined || kinds.includes(kind as FleetKind));

/** Plays a fleet, and judges each alert of each faulty endpoint. Returns all that fires. */
async function judge(
  api: ManagementApi,
  fleet: readonly FleetEndpoint[],
  faulty: readonly FaultyEndpoint[],
  more: Partial<FleetPlan> = {},
  mayFire: (firing: Firing) => boolean = () => false,
) {
  const firing = firingIn(await playFleet({ api, fleet, faulty, ...more }));
  const problems = faulty.flatMap((each) => problemsOf(each, firing, fleet.length, api));
  const isIntended = ({ alert, endpointId }: Firing) =>
    faulty.some(({ fault, endpoint }) => alert in fault.alerts && (endpointId === "" || endpointId === endpoint.id));
  const wrong = firing.filter((each) => !isIntended(each) && !mayFire(each));
  const summary = wrong.map(({ minute, alert, endpointId }) => {
    const { name } = faulty.find(({ endpoint }) => endpoint.id === endpointId) ?? { name: "no fault" };
    return `${alert} of ${endpointId} (${name}) at ${minute - WARM_UP_S / 60}`;
  });
  expect([...problems, ...summary]).toEqual([]);
  // However many exporters there are, an endpoint has each alert once.
  const keys = firing.map(({ minute, alert, endpointId, instance }) => [minute, alert, endpointId, instance].join());
  expect(keys.filter((key, at) => keys.indexOf(key) !== at)).toEqual([]);
  return firing.map((each) => ({ ...each, minute: each.minute - WARM_UP_S / 60 }));
}

function problemsOf({ name, fault, endpoint }: FaultyEndpoint, firing: readonly Firing[], count: number, api: string) {
  return Object.entries(fault.alerts).flatMap(([alert, withinMin]) => {
    const own = firing.filter((each) => each.alert === alert && ["", endpoint.id].includes(each.endpointId));
    const minutes = own.map(({ minute }) => minute);
    const after = Math.min(...minutes) - beginS(fault) / 60;
    const ends = Math.max(...minutes) + 1 - endS(fault) / 60;
    table.push(`| ${name}: ${alert} | ${endpoint.kind} of ${count}, ${api} | ${after} of ${withinMin} | ${ends} |`);
    const isInTime = after >= 0 && after <= withinMin && ends < RECOVERS_S / 60;
    return isInTime ? [] : [`${alert} of ${endpoint.id} (${name}) fires after ${after}, ends after ${ends}`];
  });
}

/**
 * Returns the faults of the table, each at its own endpoint of each kind. With too few endpoints,
 * each fault has some kinds.
 */
function spread(fleet: readonly FleetEndpoint[]): FaultyEndpoint[] {
  const faults = Object.entries(ENDPOINT_FAULTS);
  const free = new Set(fleet);
  return FLEET_KINDS.flatMap((_, round) =>
    faults.flatMap(([name, fault], at) => {
      const kinds = FLEET_KINDS.filter((kind) => !fault.kinds || fault.kinds.includes(kind));
      const kind = kinds[(at + round) % kinds.length];
      const endpoint = round < kinds.length && [...free].find((each) => each.kind === kind && canHave(fault, each));
      return endpoint && free.delete(endpoint) ? [{ name, fault, endpoint }] : [];
    }),
  );
}

test("the tables contain a row for every kind of fault that the emulator supports", () => {
  const rows = Object.keys({ ...ENDPOINT_FAULTS, ...ACCOUNT_FAULTS });
  expect(rows).toEqual(expect.arrayContaining(faultChoices().map(({ name }) => name)));
});

describeWith(`the rules${title}`, () => {
  test("promtool accepts the rules, of which there are about twenty for every account", () => {
    expect(withRules((folder) => promtool(["check", "rules", path.join(folder, "rules.yml")]))).toMatch(
      /SUCCESS: \d+ rules found/,
    );
    const count = RULES.match(/- alert:/g)?.length;
    process.stdout.write(`${count} rules, ${Buffer.byteLength(RULES)} bytes\n`);
    expect(count).toBeLessThanOrEqual(20);
  });

  test.each([
    [9, 10, true],
    [10, 11, false],
  ])("a failed job and %i completed ones, %i in all, are at least 10 %% failed: %s", (completed, _, isReported) => {
    const until = 23;
    const at = (values: (minute: number) => number) => Array.from({ length: until }, (__, minute) => values(minute));
    const own = 'endpoint_id="e1",instance="i",job="gpu"';
    const series = new Map([
      [`serverless_gpu_endpoint_jobs_failed_total{${own}}`, at((minute) => (minute < 20 ? 0 : 1))],
      [
        `serverless_gpu_endpoint_jobs_completed_total{${own}}`,
        at((minute) => Math.min(completed, Math.max(0, minute - 9))),
      ],
      [`serverless_gpu_endpoint_read_age_seconds{${own},read="queue"}`, at(() => 1)],
      ['serverless_gpu_exporter_info{instance="i",job="gpu"}', at(() => 1)],
    ]);
    const fired = firingIn({ series, scrapes: until });
    expect([...new Set(fired.map(({ alert }) => alert))]).toEqual(isReported ? ["JobsFail"] : []);
  });

  test.each(some(ENDPOINT_FAULTS))(
    "with one endpoint, only the intended alerts fire in time, and end: %s",
    async (name, fault) => {
      const fleet = fleetOf(1, fault.kinds ?? ["delay1"]);
      await judge(
        "graphql",
        fleet,
        fleet.map((endpoint) => ({ name, fault, endpoint })),
      );
    },
    600_000,
  );

  test.each(
    IS_EVERYWHERE ? [1, 6] : [ACCOUNT_KINDS.length],
  )("with %i endpoints, only the intended alerts about the account fire in time, and end", async (count) => {
    for (const [name, fault] of Object.entries(ACCOUNT_FAULTS)) {
      if (!IS_EVERYWHERE && LIKE_OTHERS.includes(name)) continue;
      const fleet = fleetOf(count, ACCOUNT_KINDS);
      const isOfAll = "QueueNotServed" in fault.alerts;
      const faulty = fleet.filter((each, at) => (isOfAll ? canHave(fault, each) : at === 0));
      await judge(
        "graphql",
        fleet,
        faulty.map((endpoint) => ({ name, fault, endpoint })),
      );
    }
  }, 1_800_000);

  test(`with ${MANY} endpoints, each fault fires its own alerts at its own endpoint, whatever the scaler and workersMax`, async () => {
    const fleet = fleetOf(MANY);
    const faulty = spread(fleet);
    expect(new Set(faulty.map(({ name }) => name))).toEqual(new Set(Object.keys(ENDPOINT_FAULTS)));
    await judge("v2", fleet, faulty);
  }, 1_800_000);

  test("one alert fires while the only exporter cannot be scraped, whatever the number of endpoints", async () => {
    const isUp = (minute: number) => minute < 0 || minute >= 40;
    const firing = await judge(
      "graphql",
      fleetOf(6),
      [],
      { isUp, lastsS: WARM_UP_S + 80 * 60 },
      isAlert("ExporterDown"),
    );
    const minutes = firing.map(({ minute }) => minute);
    expect([minutes[0], minutes.length, minutes.at(-1)]).toEqual([5, 35, 39]);
  }, 600_000);

  test("with two exporters, one of which stops reading while an endpoint is renamed and management is down, faults of endpoints fire as usual", async () => {
    const fleet = fleetOf(6);
    const { crashLoop, "more jobs than workersMax can run": overload } = ENDPOINT_FAULTS;
    const [crashing, busy] = fleet as [FleetEndpoint, FleetEndpoint];
    const faulty = [
      { name: "crashLoop", fault: crashLoop as Fault, endpoint: crashing },
      { name: "more jobs", fault: overload as Fault, endpoint: busy },
    ];
    const eachMinute: FleetPlan["eachMinute"] = async (minute, play, exporters) => {
      const { emulator } = play;
      if (exporters.length === 1) exporters.push(await play.addExporter());
      if (minute === 2) for (const { id } of [crashing, busy]) emulator.endpoints.change(id, { name: `renamed ${id}` });
      if (minute === 2) exporters[1]?.stopReading();
      if (minute === 4) emulator.faults.add({ name: "down", match: { interface: "graphql" }, effect: { status: 503 } });
      if (minute === 40)
        for (const { id, name } of emulator.faults.list()) if (name === "down") emulator.faults.remove(id);
    };
    const firing = await judge("graphql", fleet, faulty, { eachMinute }, isAlert("NoAccountRead"));
    const unread = firing.filter(({ alert }) => alert === "NoAccountRead");
    const minutesOf = (instance: string) =>
      unread.filter((each) => each.instance === instance).map(({ minute }) => minute);
    const [first, second] = [minutesOf("gpu-0:9837"), minutesOf("gpu-1:9837")];
    // Twelve minutes after the last read of the list, or of the state, which may be minutes older.
    for (const [minute = 0] of [first, second]) expect([minute >= 8, minute <= 18]).toEqual([true, true]);
    // Management is back in minute 40. The other exporter never reads again.
    expect([first.at(-1), second.at(-1)]).toEqual([40, Math.max(...firing.map(({ minute }) => minute))]);
  }, 600_000);

  test("a worker of workersMin that has a job every three hours is reported, and one that has a job every five minutes is not", async () => {
    const [rare, busy] = fleetOf(2, ["warm"]) as [FleetEndpoint, FleetEndpoint];
    const faulty = [{ name: "a job every three hours", fault: RARELY_BUSY, endpoint: rare }];
    await judge("graphql", [rare, busy], faulty, { healthEveryMs: 60_000 });
  }, 900_000);

  test(`no alert fires in ${CLEAN_HOURS} hours without faults`, async () => {
    await judge("graphql", fleetOf(6), [], { lastsS: CLEAN_HOURS * 3600, healthEveryMs: 60_000 });
  }, 1_800_000);
});

const isAlert = (name: string) => (firing: Firing) => firing.alert === name;
