import { setTimeout as sleep } from "node:timers/promises";
import type { Kind } from "../../faults/rules/held";
import { type Api, createRulesStack, type Declared, EVERYWHERE, type Form, signal, UP } from "../../faults/rules/stack";
import { type Request, startStandIn } from "../../faults/rules/standIn";

const RESOURCES: Readonly<Record<Kind, Declared>> = {
  endpoint: {
    is: "ServerlessEndpoint",
    name: "one",
    args: { name: "one", gpuIds: "AMPERE_24", imageName: "me/app:1", workersMax: 2 },
  },
  template: { is: "ServerlessTemplate", name: "one", args: { name: "one", imageName: "me/app:1" } },
  volume: { is: "NetworkVolume", name: "one", args: { name: "one", size: 10, dataCenterId: "EU-RO-1" } },
  auth: { is: "ContainerRegistryAuth", name: "one", args: { name: "one", username: "me", password: "word-of-mine" } },
  secret: { is: "Secret", name: "one", args: { name: "one", value: "value-of-mine" } },
};
const KINDS = Object.keys(RESOURCES) as Kind[];

/** How long the service takes over the deletion. */
const HELD_MS = 1_500;

/** Deletes a record, disturbs the run while the deletion is in flight, and declares it again. */
async function play(kind: Kind, where: { form: Form; api: Api }, disturb: (stack: Stack) => Promise<void>) {
  await using standIn = await startStandIn();
  const stack = await createRulesStack(standIn, where);
  await stack.declare([RESOURCES[kind]]);
  expect(await stack.run(UP)).toMatchObject({ exitCode: 0 });
  let isHeld = false;
  standIn.begin({
    async before(request: Request) {
      if (isHeld || request.kind !== kind || request.write !== "delete") return undefined;
      isHeld = true;
      await disturb(stack);
      return "accepted";
    },
  });
  await stack.declare([]);
  const disturbed = await stack.run(UP);
  expect(isHeld).toBe(true);
  // The service ends the request on its own, whatever became of the run.
  await sleep(HELD_MS + 500);
  expect(standIn.account.records[kind].size).toBe(0);
  await stack.run(["cancel", "--yes"]);
  standIn.begin();
  await stack.declare([RESOURCES[kind]]);
  const next = await stack.run(UP);
  const isThere = standIn.account.records[kind].size === 1;
  return { disturbed, next, isThere };
}

type Stack = Awaited<ReturnType<typeof createRulesStack>>;

const GONE = /\bgone\b|no longer exists|does not exist|was deleted|is deleted/i;

describe.each(
  EVERYWHERE.flatMap((where) => KINDS.map((kind) => ({ ...where, kind }))),
)("the deletion of the $kind with the $form form over $api", ({ kind, ...where }) => {
  test("the deletion is not claimed to be undone after Ctrl-C, and the next up recreates the record or says that it is gone", async () => {
    const { disturbed, next, isThere } = await play(kind, where, async (stack) => {
      await signal(stack, "engine", "SIGINT");
      await sleep(HELD_MS);
    });
    expect(disturbed.output).not.toMatch(/in service/i);
    if (!isThere) expect(next.output).toMatch(GONE);
  });

  test("the deletion is verified by the next up if the provider was killed meanwhile", async () => {
    const { next, isThere } = await play(kind, where, async (stack) => {
      await signal(stack, "provider", "SIGKILL");
      await sleep(HELD_MS);
    });
    if (!isThere) expect(next.output).toMatch(GONE);
  });
});
