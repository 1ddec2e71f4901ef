import { ABSENT, type Lie, lieAboutNamed } from "../../faults/rules/lies";
import {
  type Api,
  createRulesStack,
  type Declared,
  EVERYWHERE,
  type Form,
  REFRESH,
  rowsFor,
  UP,
  UP_REFRESH,
} from "../../faults/rules/stack";
import { type Meddler, type Request, startStandIn } from "../../faults/rules/standIn";

/** What each API may leave out of an answer about the endpoint of this name. */
const LIES: Readonly<Record<Api, Readonly<Record<string, Lie>>>> = {
  graphql: {
    "null-type": { type: null },
    "no-type": { type: ABSENT },
    "null-gpus": { gpuIds: null },
    "null-cpus": { instanceIds: null },
    "null-counts": { gpuCount: null, executionTimeoutMs: null },
  },
  v2: {
    "no-type": { type: ABSENT },
    "no-gpus": { gpu: ABSENT },
    "null-gpus": { gpu: null },
    "no-cpus": { cpu: ABSENT },
    "no-timeout": { "workers.idleTimeout": ABSENT },
  },
};

function declared(api: Api, more: Readonly<Record<string, unknown>> = {}): Declared[] {
  return Object.keys(LIES[api]).map((name) => ({
    is: "ServerlessEndpoint",
    name,
    args: {
      name,
      ...(/cpus/.test(name) ? { instanceIds: ["cpu3g-4-16"] } : { gpuIds: "AMPERE_24" }),
      ...(name === "no-type" && { type: "LOAD_BALANCER", scalerType: "REQUEST_COUNT", scalerValue: 2 }),
      imageName: "me/app:1",
      workersMax: 2,
      ...more,
    },
  }));
}

async function deploy({ form, api }: { form: Form; api: Api }) {
  const standIn = await startStandIn();
  const stack = await createRulesStack(standIn, { form, api });
  const lying = (when: (request: Request) => boolean): Meddler => lieAboutNamed("endpoint", LIES[api], when);
  return { standIn, stack, lying, ids: () => [...standIn.account.records.endpoint.keys()] };
}

describe.each(EVERYWHERE)("with the $form form over $api", (where) => {
  test.each(
    rowsFor(where, [
      ["up --refresh", [UP_REFRESH]],
      ["a refresh", [REFRESH, UP]],
    ] as const),
  )("an unchanged program replaces nothing if %s reads endpoints without optional fields", async (_title, commands) => {
    const { standIn, stack, lying, ids } = await deploy(where);
    await using _ = standIn;
    await stack.declare(declared(where.api));
    expect(await stack.run(UP)).toMatchObject({ exitCode: 0 });
    const before = ids();
    for (const [index, command] of commands.entries()) {
      standIn.begin(index === 0 ? lying(() => true) : {});
      await stack.run(command);
    }
    expect(ids()).toEqual(before);
    standIn.begin();
    const healthy = await stack.run(UP);
    expect(healthy.output).not.toMatch(/replaced/);
    expect(ids()).toEqual(before);
    expect(standIn.account.deleted).toEqual([]);
  });

  test.each(
    rowsFor(where, ["change", "create"] as const),
  )("an unchanged program replaces nothing if the answer to a %s lacks optional fields", async (write) => {
    const { standIn, stack, lying, ids } = await deploy(where);
    await using _ = standIn;
    await stack.declare(declared(where.api));
    if (write === "change") {
      expect(await stack.run(UP)).toMatchObject({ exitCode: 0 });
      await stack.declare(declared(where.api, { workersMax: 3 }));
    }
    standIn.begin(lying((request) => request.write === write));
    await stack.run(UP);
    const before = ids();
    expect(before).toHaveLength(Object.keys(LIES[where.api]).length);
    standIn.begin();
    const healthy = await stack.run(UP);
    expect(healthy).toMatchObject({ exitCode: 0 });
    expect(ids()).toEqual(before);
    expect(standIn.account.deleted).toEqual([]);
  });
});
