import { setTimeout as sleep } from "node:timers/promises";
import type { Kind } from "../../faults/rules/held";
import { type Api, createRulesStack, type Declared, type Form, placesOr, signal, UP } from "../../faults/rules/stack";
import { type Request, startStandIn } from "../../faults/rules/standIn";

const RESOURCES: Readonly<Record<Kind, Declared>> = {
  endpoint: {
    is: "ServerlessEndpoint",
    name: "endpoint",
    args: { name: "one", gpuIds: "AMPERE_24", imageName: "me/app:1", workersMax: 2 },
  },
  template: { is: "ServerlessTemplate", name: "template", args: { name: "one", imageName: "me/app:1" } },
  volume: { is: "NetworkVolume", name: "volume", args: { name: "one", size: 10, dataCenterId: "EU-RO-1" } },
  auth: { is: "ContainerRegistryAuth", name: "auth", args: { name: "one", username: "me", password: "word-of-mine" } },
  secret: { is: "Secret", name: "secret", args: { name: "one", value: "value-of-mine" } },
};
const KINDS = Object.keys(RESOURCES) as Kind[];

/** How long the service takes over the deletions. */
const HELD_MS = 1_500;

/**
 * Deletes the records, disturbs the run while all deletions are in flight, and declares them again.
 */
async function play(where: { form: Form; api: Api }, disturb: (stack: Stack) => Promise<void>) {
  await using standIn = await startStandIn();
  const { records } = standIn.account;
  const stack = await createRulesStack(standIn, where);
  await stack.declare(Object.values(RESOURCES));
  expect(await stack.run(UP)).toMatchObject({ exitCode: 0 });
  /** The id of the program's record of a kind: a template that an endpoint has is not one. */
  const idOf = (kind: Kind) =>
    [...records[kind].values()].find((record) => !("boundEndpointId" in record && record.boundEndpointId))?.id;
  const ids = KINDS.map((kind) => [kind, String(idOf(kind))] as const);
  const held = new Set<Kind>();
  let disturbed = () => {};
  const isDisturbed = new Promise<void>((resolve) => {
    disturbed = resolve;
  });
  standIn.begin({
    async before({ kind, write }: Request) {
      if (write !== "delete" || !kind || held.has(kind)) return undefined;
      held.add(kind);
      if (held.size === KINDS.length) await disturb(stack).finally(disturbed);
      await isDisturbed;
      return "accepted";
    },
  });
  await stack.declare([]);
  const interrupted = await stack.run(UP);
  expect([...held].sort()).toEqual([...KINDS].sort());
  // The service ends the requests on its own, whatever became of the run.
  await sleep(HELD_MS + 500);
  for (const kind of KINDS) expect([kind, records[kind].size]).toEqual([kind, 0]);
  await stack.run(["cancel", "--yes"]);
  standIn.begin();
  await stack.declare(Object.values(RESOURCES));
  const next = await stack.run(UP);
  const missing = ids.filter(([kind]) => idOf(kind) === undefined);
  return { interrupted, next, missing };
}

type Stack = Awaited<ReturnType<typeof createRulesStack>>;

const GONE = /\bgone\b|no longer exists|does not exist|was deleted|is deleted/i;

/** Checks that a line of the output says that a record is gone, unless the run recreated it. */
function expectGoneOrThere({ next, missing }: Awaited<ReturnType<typeof play>>) {
  const lines = next.output.split("\n").filter((line) => GONE.test(line));
  expect(missing.filter(([, id]) => !lines.some((line) => line.includes(id)))).toEqual([]);
}

test.each(
  placesOr("npm"),
)("with the $form form over $api, the deletion of a record of each kind is not claimed to be undone after Ctrl-C, and the next up recreates the record or says that it is gone", async (where) => {
  const played = await play(where, async (stack) => {
    await signal(stack, "engine", "SIGINT");
    await sleep(HELD_MS);
  });
  expect(played.interrupted.output).not.toMatch(/in service/i);
  expectGoneOrThere(played);
});

test.each(
  placesOr("plugin"),
)("with the $form form over $api, the deletion of a record of each kind is verified by the next up if the provider was killed meanwhile", async (where) => {
  const played = await play(where, async (stack) => {
    await signal(stack, "provider", "SIGKILL");
    await sleep(HELD_MS);
  });
  expectGoneOrThere(played);
});
