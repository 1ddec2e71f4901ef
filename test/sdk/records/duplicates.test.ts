import { startEmulated } from "../../support/emulated";

const INPUT = { gpuIds: "ADA_24", templateId: "template" } as const;

test("the last of several concurrent creates looks for the duplicates of all of them", async () => {
  await using service = await startEmulated();
  const { emulator, client, run, calls } = service;
  const found: string[] = [];
  const onDuplicates = ({ name }: { readonly name: string }, others: readonly object[]) =>
    void found.push(`${name} ${others.length}`);
  const names = Array.from({ length: 8 }, (_, index) => `e${index}`);
  // Somebody else creates one as well, after the first list.
  emulator.faults.add({ match: { operation: "saveEndpoint" }, effect: { latencyMs: 300, when: "before" } });
  const creating = Promise.all(names.map((name) => client.endpoints.create({ ...INPUT, name }, { onDuplicates })));
  while (!calls().includes("saveEndpoint")) await service.clock.advance(10);
  emulator.endpoints.create({ ...INPUT, name: "e3" });
  await run(creating);
  expect(found).toEqual(["e3 1"]);
  expect(calls().filter((call) => call === "myself")).toHaveLength(2);
});

test("creates that follow one another without overlapping share the check for duplicates", async () => {
  await using service = await startEmulated();
  const { emulator, client, run, clock, calls } = service;
  const found: string[] = [];
  const onDuplicates = ({ name }: { readonly name: string }) => void found.push(name);
  const creating: Promise<unknown>[] = [];
  for (let number = 0; number < 20; number++) {
    creating.push(client.endpoints.create({ ...INPUT, name: `e${number}` }, { onDuplicates }));
    await clock.advance(60);
  }
  emulator.endpoints.create({ ...INPUT, name: "e17" });
  await run(Promise.all(creating));
  expect(found).toEqual(["e17"]);
  expect(calls().filter((call) => call === "myself").length).toBeLessThanOrEqual(4);
});

test("the check for duplicates is not skipped when the last create fails", async () => {
  await using service = await startEmulated();
  const { emulator, client, run, failure } = service;
  const found: string[] = [];
  const onDuplicates = ({ name }: { readonly name: string }) => void found.push(name);
  emulator.faults.add({ match: { operation: "saveEndpoint" }, effect: { latencyMs: 300, when: "before" } });
  const create = (name: string) => client.endpoints.create({ ...INPUT, name }, { onDuplicates });
  const creating = ["one", "other"].map(create);
  const failing = create("");
  while (!service.calls().includes("saveEndpoint")) await service.clock.advance(10);
  emulator.endpoints.create({ ...INPUT, name: "other" });
  await failure(failing);
  await run(Promise.all(creating));
  expect(found).toEqual(["other"]);
});

test("a list that does not contain the new record yet is read again until it shows the duplicate", async () => {
  await using service = await startEmulated();
  const { emulator, client, run, clock } = service;
  const found: (readonly { readonly id: string }[])[] = [];
  const onDuplicates = (_: object, others: readonly { readonly id: string }[]) => void found.push(others);
  emulator.faults.add({ match: { interface: "graphql" }, effect: { listLagMs: 10_000 } });
  const theirs = emulator.endpoints.create({ ...INPUT, name: "llama" });
  const begunAt = clock.monotonic();
  const ours = await run(client.endpoints.create({ ...INPUT, name: "llama" }, { onDuplicates }));
  expect(ours.id).not.toBe(theirs.id);
  expect(found).toMatchObject([[{ id: theirs.id }]]);
  expect(clock.monotonic() - begunAt).toBeLessThan(20_000);
});
