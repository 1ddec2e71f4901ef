import type { FaultEffect } from "../../../emulator";
import { NameTakenError } from "../../../sdk/errors";
import { type Emulated, startEmulated } from "../../support/emulated";

/** A kind of record: the request that creates one, and the list of those that exist. */
interface Kind {
  readonly operation: string;
  readonly create: (it: Emulated) => Promise<{ readonly id: string }>;
  readonly list: (it: Emulated) => readonly { readonly id: string }[];
}

const KINDS: [string, Kind][] = [
  [
    "template",
    {
      operation: "saveTemplate",
      create: ({ client }) => client.templates.create({ name: "t", imageName: "app:1", env: { A: "1" } }),
      list: ({ emulator }) => emulator.templates.list(),
    },
  ],
  [
    "network volume",
    {
      operation: "createNetworkVolume",
      create: ({ client }) => client.volumes.create({ name: "v", size: 50, dataCenterId: "EU-RO-1" }),
      list: ({ emulator }) => emulator.volumes.list(),
    },
  ],
  [
    "registry credential",
    {
      operation: "saveRegistryAuth",
      create: ({ client }) => client.registryAuths.create({ name: "r", username: "me", password: "password-1" }),
      list: ({ emulator }) => emulator.registryAuths.list(),
    },
  ],
];

const LOSSES: [string, FaultEffect][] = [
  ["reset", { reset: true }],
  ["502 with HTML", { html: true }],
  ["server fault of GraphQL", { graphqlError: { message: "Something went wrong. Please try again later" } }],
  ["hang", { hang: true }],
  ["429", { status: 429 }],
];

describe.each(KINDS)("a create of a %s", (_noun, { operation, create, list }) => {
  test.each(
    LOSSES,
  )("a create whose response is lost by %s makes one record, wherever it is lost", async (_what, effect) => {
    // A 429 says that there was no effect.
    const moments = effect.status === 429 ? (["before"] as const) : (["before", "after"] as const);
    for (const when of moments) {
      await using it = await startEmulated();
      it.emulator.faults.add({ match: { operation }, effect: { ...effect, when }, times: 1 });
      const created = await it.run(create(it));
      expect(list(it).map(({ id }) => id)).toEqual([created.id]);
    }
  });

  test("is refused, or makes another one, when a record has its name, and never returns that one", async () => {
    await using it = await startEmulated();
    const first = await it.run(create(it));
    it.emulator.faults.add({ match: { operation }, effect: { reset: true, when: "after" }, times: 1 });
    const second = await it.run(create(it).catch((error: unknown) => error));
    if (operation === "createNetworkVolume") expect((second as { id: string }).id).not.toBe(first.id);
    else expect(second).toBeInstanceOf(NameTakenError);
  });
});

test("a lost create whose record shows only after the repetition was refused is found by its name", async () => {
  await using it = await startEmulated();
  it.emulator.faults.add({ match: { operation: "saveTemplate" }, effect: { reset: true, when: "after" }, times: 1 });
  // The list lags longer than the client allows for; the service itself knows the name.
  it.emulator.faults.add({ match: { operation: "myself", nth: 2 }, effect: { listLagMs: 7_000 }, times: 1 });
  const created = await it.run(it.client.templates.create({ name: "t", imageName: "app:1" }));
  expect(it.emulator.templates.list().map(({ id }) => id)).toEqual([created.id]);
});

test("a name of another account, or a reserved one, is explained", async () => {
  await using it = await startEmulated({ emulator: { takenTemplateNames: ["t"] } });
  await expect(it.run(it.client.templates.create({ name: "t", imageName: "app:1" }))).rejects.toThrow(
    /no template of this account has it: another account has it, or a deleted one had it/,
  );
});

test("somebody else's template of the same name, made meanwhile, is never taken for ours", async () => {
  await using it = await startEmulated();
  const { emulator, client } = it;
  emulator.faults.add({ match: { operation: "saveTemplate" }, effect: { reset: true }, times: 1 });
  const creating = it.run(client.templates.create({ name: "t", imageName: "app:1" }).catch((error: unknown) => error));
  while (emulator.journal.operations({ operation: "saveTemplate" }).length === 0) await new Promise(setImmediate);
  emulator.templates.create({ id: "stranger", name: "t", imageName: "other:1", isServerless: true });
  expect(await creating).toBeInstanceOf(NameTakenError);
  expect(emulator.templates.list().map(({ id }) => id)).toEqual(["stranger"]);
});
