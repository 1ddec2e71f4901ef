import { createClient } from "../../../sdk/client/client";
import { SCENARIOS, stateOf } from "./hiddenScenarios";
import { type Ids, problemsOf } from "./judge";
import { expectationFor, FINDINGS, type Scenario, WORDS } from "./scenario";
import { CRASH_LOOP } from "./scenarios";
import { startStandIn } from "./server";
import { type Changes, log, PLANTED, stockOf, worker, world } from "./world";

// Checks the stand-in and the scenarios by themselves, with plain requests.

const AGENT = { "user-agent": "stand-in-test/1" };
const KEY = { ...AGENT, authorization: "Bearer rpa_key" };

/** What the tests look at in a response. */
interface Body {
  readonly gpus?: readonly { readonly id: string; readonly availability: string }[];
  readonly workers?: readonly object[];
}

async function start(changes: Changes = {}) {
  const standIn = await startStandIn(world(changes));
  const read = async (base: string, path: string, headers: Record<string, string> = KEY) => {
    const response = await fetch(`${base}${path}`, { headers });
    return { status: response.status, body: (await response.json()) as Body };
  };
  return {
    ...standIn,
    v2: (path: string) => read(standIn.graphqlUrl, `/v2${path}`),
    queue: (path: string, headers?: Record<string, string>) => read(standIn.queueUrl, `/v2${path}`, headers),
    async graphql(query: string, variables?: object, headers: Record<string, string> = KEY) {
      const body = JSON.stringify({ query, variables });
      const response = await fetch(`${standIn.graphqlUrl}/graphql`, { method: "POST", headers, body });
      return { status: response.status, body: (await response.json()) as object };
    },
  };
}

/** Reads a stream until it is silent. It never ends by itself. */
async function readLines(url: string, count: number): Promise<{ source: string; line: string; ts: string }[]> {
  const abort = new AbortController();
  const response = await fetch(url, { headers: KEY, signal: abort.signal });
  let text = "";
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk).toString("utf8");
    if (text.split("\n\n").length > count) break;
  }
  abort.abort();
  return [...text.matchAll(/^data: (.*)$/gm)].map(([, data = ""]) => JSON.parse(data));
}

describe("the stand-in", () => {
  test("GraphQL returns the selected fields, with aliases, variables and fragments.", async () => {
    await using standIn = await start({ workers: [worker("RUNNING"), worker("THROTTLED", { isStale: true })] });
    const { body } = await standIn.graphql(
      `query Q($id: String!) { myself { one: endpoint(id: $id) { ...E workerState(input: {granularity: LIVE}) { running throttled } }
        none: endpoint(id: "no") { id } underBalance maxServerlessConcurrency } serverlessGpuPools { id gpuTypeIds } }
       fragment E on Endpoint { id workersMax version pods { desiredStatus slsVersion machine { gpuTypeId } } }`,
      { id: "ep1" },
    );
    const machine = { gpuTypeId: "NVIDIA GeForce RTX 4090" };
    expect(body).toMatchObject({
      data: {
        myself: {
          one: {
            id: "ep1",
            workersMax: 3,
            version: 7,
            pods: [
              { desiredStatus: "RUNNING", slsVersion: 7, machine },
              { desiredStatus: "RUNNING", slsVersion: 6, machine },
            ],
            workerState: [{ running: 1, throttled: 1 }],
          },
          none: null,
          underBalance: false,
          maxServerlessConcurrency: 30,
        },
      },
    });
  });

  test("GraphQL refuses unknown fields, and reports the variables of pods and mutations.", async () => {
    await using standIn = await start({ workers: [worker("IDLE")] });
    expect((await standIn.graphql("{ myself { endpoints { id waitingReason } } }")).status).toBe(400);
    await standIn.graphql('{ myself { endpoint(id: "ep1") { pods { env { key } } } } }');
    await standIn.graphql('mutation { deleteEndpoint(id: "ep1") }');
    expect(standIn.seen.unknownFields[0]).toBe('Cannot query field "waitingReason" on type "endpoints".');
    expect(standIn.seen.violations).toEqual(["the variables of pods", "a mutation"]);
    expect((await standIn.graphql("{ myself { id } }", {}, AGENT)).body).toEqual({ data: { myself: null } });
    const wrong = { ...AGENT, authorization: "Bearer no" };
    expect((await standIn.graphql("{ myself { id } }", {}, wrong)).status).toBe(401);
  });

  test("The stock depends on the requested count, location and CUDA rule.", async () => {
    await using standIn = await start({ stock: stockOf("LOW", ["ADA_24"]), freeTogether: 1 });
    const query = `{ gpuTypes(input: {id: "NVIDIA GeForce RTX 4090"}) { one: lowestPrice(input: {gpuCount: 1}) { stockStatus }
      two: lowestPrice(input: {gpuCount: 2}) { stockStatus } new: lowestPrice(input: {gpuCount: 1, minCudaVersion: "13.0"}) { stockStatus }
      no: lowestPrice(input: {gpuCount: 1, dataCenterId: "XX-1"}) { stockStatus } } }`;
    const { body } = await standIn.graphql(query, {}, AGENT);
    const none = { stockStatus: "None" };
    expect(body).toEqual({ data: { gpuTypes: [{ one: { stockStatus: "Low" }, two: none, new: none, no: none }] } });
    const path = "/catalog/gpus?include=AVAILABILITY&product=SERVERLESS";
    const levels = async (query: string) =>
      (await standIn.v2(path + query)).body.gpus
        ?.filter(({ id }) => id.includes("4090"))
        .map(({ availability }) => availability);
    expect(await levels("")).toEqual(["LOW"]);
    expect(await levels("&count=2")).toEqual(["NONE"]);
    expect(await levels("&countryCodes=CZ")).toEqual(["LOW"]);
    expect(await levels("&countryCodes=JP")).toEqual([]);
    expect(await levels("&minCudaVersion=13.0")).toEqual(["NONE"]);
    expect((await standIn.v2("/catalog/gpus?include=AVAILABILITY")).status).toBe(400);
  });

  test("REST v2 serves the endpoint, its workers, its releases and the limits.", async () => {
    await using standIn = await start({
      workers: [worker("RUNNING"), worker("UNHEALTHY", { isStale: true, age: null })],
    });
    expect((await standIn.v2("/serverless/ep1")).body).toMatchObject({ id: "ep1", workers: { min: 0, max: 3 } });
    const { body } = await standIn.v2("/serverless/ep1/workers");
    expect(body).toMatchObject({ summary: { running: 1, unhealthy: 1, total: 2 }, endpointVersion: 7 });
    expect(Object.keys(body.workers?.[1] ?? {})).toEqual(["id", "status", "isStale", "version", "gpuCount"]);
    expect((await standIn.v2("/serverless/ep1/releases")).body).toMatchObject({
      rollout: { inProgress: true, workersOnLatest: 1, workersTotal: 2, percentOnLatest: 50 },
    });
    expect((await standIn.v2("/account/limits")).body).toMatchObject({ serverlessWorkers: { limit: 30, used: 4 } });
    expect((await standIn.v2("/serverless/none")).status).toBe(404);
    expect((await standIn.v2("/serverless")).body).toMatchObject({ endpoints: [{ id: "ep1" }, { id: "other0" }] });
    expect(standIn.seen).toMatchObject({ sawWorkers: true, sawLogs: false, violations: [] });
  });

  test("Log streams never end, and a silent worker sends no events.", async () => {
    await using standIn = await start({
      workers: [worker("RUNNING", { id: "w", logs: CRASH_LOOP }), worker("IDLE", { id: "s" })],
    });
    const url = `${standIn.graphqlUrl}/v2/serverless/ep1/workers/w/logs`;
    const lines = await readLines(url, CRASH_LOOP.length);
    expect(lines.map(({ line }) => line)).toEqual(CRASH_LOOP.map(({ line }) => line));
    expect(lines.map(({ ts }) => ts)).toEqual(lines.map(({ ts }) => ts).sort());
    expect((await readLines(`${url}?source=system&tail=2`, 2)).map(({ source }) => source)).toEqual([
      "system",
      "system",
    ]);
    const since = new Date(Date.now() - 60_000).toISOString();
    expect((await readLines(`${url}?since=${since}`, 3)).length).toBeLessThan(CRASH_LOOP.length);
    const silent = await fetch(url.replace("/w/", "/s/"), { headers: KEY });
    expect(silent.headers.get("content-type")).toBe("text/event-stream");
    await silent.body?.cancel();
    expect((await standIn.v2("/serverless/ep1/workers/none/logs")).status).toBe(404);
  });

  test("The queue host returns counts, refuses load-balancing endpoints, and reports every request that is not a read.", async () => {
    await using standIn = await start({
      workers: [worker("IDLE", { id: "w9" })],
      recentJobs: [{ id: "j", status: "IN_QUEUE" }],
    });
    expect((await standIn.queue("/ep1/health")).body).toMatchObject({
      jobs: { inQueue: 0 },
      workers: { idle: 1, ready: 1 },
    });
    expect((await standIn.queue("/ep1/metrics")).body).toMatchObject({ readyWorkers: ["w9"] });
    expect((await standIn.queue("/ep1/status/j")).body).toEqual({ id: "j", status: "IN_QUEUE" });
    expect((await standIn.queue("/ep1/status/none")).status).toBe(404);
    expect((await standIn.queue("/ep1/health", AGENT)).status).toBe(401);
    await fetch(`${standIn.queueUrl}/v2/ep1/run`, { method: "POST", headers: KEY });
    expect(standIn.seen.violations).toEqual(["POST /v2/ep1/run"]);
    await using other = await start({ endpoint: { type: "LOAD_BALANCER" } });
    expect((await other.queue("/ep1/requests")).body).toEqual({ error: "not allowed for QB API" });
    expect((await other.queue("/ep1/health")).status).toBe(200);
  });

  test.each(["graphql", "v2"] as const)("The client reads the stand-in over %s.", async (api) => {
    await using standIn = await start({
      endpoint: { compliance: ["GDPR"], minCudaVersion: "12.4" },
      volumes: { v: "US-KS-2" },
    });
    const { graphqlUrl, restUrl, queueUrl, seen } = standIn;
    await using client = createClient({ apiKey: "rpa_key", service: "runpod", api, graphqlUrl, restUrl, queueUrl });
    const listed = await client.endpoints.list();
    expect(listed.find(({ id }) => id === "ep1")).toMatchObject({
      workersMax: 3,
      gpuIds: "ADA_24",
      networkVolumeIds: "v",
    });
    expect((await client.catalog.pools()).length).toBe(5);
    expect((await client.catalog.gpus()).find(({ id }) => id.includes("4090"))).toMatchObject({ stock: "High" });
    expect(await client.account.limits()).toMatchObject({ workerQuota: 30, spendLimit: 80 });
    expect((await client.endpoint("ep1").health()).jobs.inQueue).toBe(0);
    expect(seen).toMatchObject({ violations: [], unknownFields: [] });
  });
});

describe("the scenarios", () => {
  const VIEWS = (["graphql", "v2"] as const).flatMap((api) =>
    [false, true].map((sawLogs) => ({ api, sawWorkers: api === "v2", sawLogs: sawLogs && api === "v2" })),
  );
  const views = (scenario: Scenario) => VIEWS.map((view) => ({ view, ...expectationFor(scenario, view) }));

  test("Each scenario has a unique name, and together the scenarios cover every row.", () => {
    const names = SCENARIOS.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    const wanted = SCENARIOS.flatMap(views).flatMap(({ anyOf = [], mustInclude = [] }) => [...anyOf, ...mustInclude]);
    expect(FINDINGS.filter((finding) => !wanted.includes(finding))).toEqual([]);
  });

  test.each(
    SCENARIOS.map((each) => [each.name, each] as const),
  )("The facts allow the expected answer when %s.", (_, scenario) => {
    for (const { view, anyOf, mustInclude = [], mustNotInclude = [], first, mayBeCertain = [] } of views(scenario)) {
      expect(mustInclude.filter((row) => mustNotInclude.includes(row))).toEqual([]);
      for (const rows of [anyOf, first])
        expect(rows?.every((row) => mustNotInclude.includes(row)) ?? false).toBe(false);
      // GraphQL shows the balance as a status.
      const sure = [
        1,
        2,
        3,
        4,
        "nothing",
        ...(view.api === "graphql" ? [6] : []),
        ...(view.sawLogs ? [12, 13, 14] : []),
      ];
      expect(mayBeCertain.filter((row) => !sure.includes(row))).toEqual([]);
    }
    expect(stateOf(scenario, 5)).toMatchObject({ endpointId: "ep5run", apiKey: "rpa_run5key0123456789" });
  });

  test("False certainty, an excluded cause, a missing cause and a wrong order are each reported as a problem.", () => {
    const ids = Object.fromEntries(FINDINGS.map((finding) => [finding, [`id-${finding}`]])) as unknown as Ids;
    const shared: Ids = { ...ids, 7: ["stock"], 9: ["stock"] };
    const answer = (...named: string[]) => named.map((id) => ({ id, isCertain: id === "id-14" }));
    const expectation = { mustInclude: [14], mustNotInclude: [9], first: [14] } as const;
    expect(problemsOf(answer("id-14"), { ...expectation, mayBeCertain: [14] }, ids)).toEqual([]);
    expect(problemsOf(answer("id-14"), expectation, ids)).toEqual(["id-14 is called certain"]);
    expect(problemsOf(answer("id-7", "id-9"), expectation, ids)).toEqual([
      `it lacks 14 (${WORDS[14]})`,
      "id-9 is excluded",
      `it begins with id-7, not 14 (${WORDS[14]})`,
    ]);
    expect(problemsOf(answer("stock"), { mustInclude: [7], mustNotInclude: [9] }, shared)).toEqual([]);
    expect(problemsOf(answer("no-row"), {}, ids)).toEqual(["no-row is no row of the table"]);
    expect(problemsOf([], {}, ids)).toEqual(["it names nothing"]);
  });

  test("The planted secrets appear where the service shows them.", async () => {
    await using standIn = await start({ workers: [worker("IDLE", { logs: log(1, `container: ${PLANTED.printed}`) })] });
    const shown = JSON.stringify([await standIn.v2("/serverless/ep1"), await standIn.v2("/serverless/ep1/releases")]);
    expect(shown).toContain(PLANTED.variable);
    expect(shown).toContain(PLANTED.oldVariable);
  });
});
