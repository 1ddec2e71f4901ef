import type { FaultEffect } from "../../../emulator";
import { NameTakenError } from "../../../sdk/errors/errors";
import { type Emulated, startEmulated } from "../../support/emulated";

/** A kind of record: the request that creates one, and the list of those that exist. */
interface Kind {
  readonly operation: string;
  readonly create: (service: Emulated) => Promise<{ readonly id: string }>;
  readonly list: (service: Emulated) => readonly { readonly id: string }[];
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

const SECRET: [string, Kind] = [
  "secret",
  {
    operation: "secretCreate",
    create: ({ client }) => client.secrets.create({ name: "hf", value: "value-canary-1" }),
    list: ({ emulator }) => emulator.secrets.list(),
  },
];

const LOSSES: [string, FaultEffect][] = [
  ["reset", { reset: true }],
  ["502 with HTML", { html: true }],
  ["server fault of GraphQL", { graphqlError: { message: "Something went wrong. Please try again later" } }],
  ["hang", { hang: true }],
  ["429", { status: 429 }],
];

describe.each([...KINDS, SECRET])("a create of a %s", (_noun, { operation, create, list }) => {
  test.each(
    LOSSES,
  )("a create whose response is lost by %s creates one record, wherever the response is lost", async (_what, effect) => {
    // A 429 says that there was no effect.
    const moments = effect.status === 429 ? (["before"] as const) : (["before", "after"] as const);
    for (const when of moments) {
      await using service = await startEmulated();
      service.emulator.faults.add({ match: { operation }, effect: { ...effect, when }, times: 1 });
      const created = await service.run(create(service));
      expect(list(service).map(({ id }) => id)).toEqual([created.id]);
    }
  });

  test("with the name of an existing record is refused or creates another record, and never returns the existing record", async () => {
    await using service = await startEmulated();
    const first = await service.run(create(service));
    service.emulator.faults.add({ match: { operation }, effect: { reset: true, when: "after" }, times: 1 });
    const second = await service.run(create(service).catch((error: unknown) => error));
    if (operation === "createNetworkVolume") expect((second as { id: string }).id).not.toBe(first.id);
    else expect(second).toBeInstanceOf(NameTakenError);
  });
});

test("a record whose create response was lost is found by name, even if it appears only after the repetition was refused", async () => {
  await using service = await startEmulated();
  service.emulator.faults.add({
    match: { operation: "saveTemplate" },
    effect: { reset: true, when: "after" },
    times: 1,
  });
  // The list lags longer than the client allows for; the service itself knows the name.
  service.emulator.faults.add({ match: { operation: "myself", nth: 2 }, effect: { listLagMs: 7_000 }, times: 1 });
  const created = await service.run(service.client.templates.create({ name: "t", imageName: "app:1" }));
  expect(service.emulator.templates.list().map(({ id }) => id)).toEqual([created.id]);
});

test("the refusal of a name that is reserved or used in another account is explained", async () => {
  await using service = await startEmulated({ emulator: { takenTemplateNames: ["t"] } });
  await expect(service.run(service.client.templates.create({ name: "t", imageName: "app:1" }))).rejects.toThrow(
    /although no template of this account has it: another account may use it\. The name may also still be reserved/,
  );
  // The name may be of a template that the unreadable list does not show.
  const list = service.client.templates.create({ name: "t", imageName: "app:1" });
  service.emulator.faults.add({ match: { operation: "myself", nth: 2 }, effect: { status: 403 } });
  await expect(service.run(list)).rejects.toThrow(
    /for a template: another account may use it, or a template that the list does not show\. The name may also still be reserved/,
  );
});

test("a template of the same name that someone else created in the meantime is never mistaken for the client's own", async () => {
  await using service = await startEmulated();
  const { emulator, client } = service;
  emulator.faults.add({ match: { operation: "saveTemplate" }, effect: { reset: true }, times: 1 });
  const creating = service.run(
    client.templates.create({ name: "t", imageName: "app:1" }).catch((error: unknown) => error),
  );
  while (emulator.journal.operations({ operation: "saveTemplate" }).length === 0) await new Promise(setImmediate);
  emulator.templates.create({ id: "stranger", name: "t", imageName: "other:1", isServerless: true });
  expect(await creating).toBeInstanceOf(NameTakenError);
  expect(emulator.templates.list().map(({ id }) => id)).toEqual(["stranger"]);
});
