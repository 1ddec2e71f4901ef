import { type Lie, lieAboutNamed } from "../../faults/rules/lies";
import {
  APIS,
  createRulesStack,
  DESTROY,
  type Declared,
  EVERYWHERE,
  FORMS,
  REFRESH,
  UP,
  UP_REFRESH,
} from "../../faults/rules/stack";
import { startStandIn } from "../../faults/rules/standIn";

const spelled = (place: string): Lie => ({ dataCenterId: place, dataCenter: place });

/** The data center that the service shows instead of EU-RO-1, by the name of the volume. */
const LIES = {
  "lower-case": spelled("eu-ro-1"),
  "more-exact": spelled("EU-RO-1A"),
  another: spelled("US-KS-2"),
  empty: spelled(""),
};

const volume = (name: string, more = {}, options = {}): Declared => ({
  is: "NetworkVolume",
  name,
  args: { name, size: 10, dataCenterId: "EU-RO-1", ...more },
  options,
});

describe.each(EVERYWHERE)("with the $form form over $api", (where) => {
  test("a volume under another logical name is not deleted by the run that refuses its name", async () => {
    await using standIn = await startStandIn();
    const stack = await createRulesStack(standIn, where);
    const { volume: held } = standIn.account.records;
    await stack.declare([volume("data")]);
    expect((await stack.run(UP)).output).not.toMatch(/error:/);
    const before = [...held.keys()];
    const renamed = { ...volume("data"), name: "renamed" };
    await stack.declare([renamed]);
    const refused = await stack.run([...UP, "--continue-on-error"]);
    expect([refused.exitCode === 0, [...held.keys()]]).toEqual([false, before]);
    expect(refused.output).toContain("is not deleted, and this resource stays in state");
    // The advice of the refused create keeps it, and without the other resource, it can be deleted.
    await stack.declare([{ ...renamed, options: { aliases: [{ name: "data" }] } }]);
    expect(await stack.run(UP)).toMatchObject({ exitCode: 0 });
    expect([...held.keys()]).toEqual(before);
    await stack.declare([{ ...renamed, name: "again" }]);
    await stack.run([...UP, "--continue-on-error"]);
    expect([...held.keys()]).toEqual(before);
    await stack.declare([]);
    expect(await stack.run(UP)).toMatchObject({ exitCode: 0 });
    expect(held.size).toBe(0);
  });

  test.each([
    ["up --refresh", [UP_REFRESH]],
    ["a refresh", [REFRESH, UP]],
  ])("a volume stays if %s reads another spelling of its data center", async (_title, commands) => {
    await using standIn = await startStandIn();
    const stack = await createRulesStack(standIn, where);
    await stack.declare(Object.keys(LIES).map((name) => volume(name)));
    expect((await stack.run(UP)).output).not.toMatch(/error:/);
    const before = [...standIn.account.records.volume.keys()];
    let said = "";
    for (const [index, command] of commands.entries()) {
      standIn.begin(index === 0 ? lieAboutNamed("volume", LIES) : {});
      said += (await stack.run(command)).output;
    }
    standIn.begin();
    expect((await stack.run(UP)).output).not.toMatch(/error:/);
    expect([...standIn.account.records.volume.keys()]).toEqual(before);
    expect(standIn.account.deleted).toEqual([]);
    for (const name of ["more-exact", "another"] as const) expect(said).toContain(String(LIES[name].dataCenterId));
  });

  test("a volume stays if the answers to its creation and change spell its data center differently", async () => {
    await using standIn = await startStandIn();
    const stack = await createRulesStack(standIn, where);
    await stack.declare(Object.keys(LIES).map((name) => volume(name)));
    standIn.begin(lieAboutNamed("volume", LIES, ({ write }) => write !== undefined));
    await stack.run(UP);
    const before = [...standIn.account.records.volume.keys()];
    expect(before).toHaveLength(Object.keys(LIES).length);
    await stack.declare(Object.keys(LIES).map((name) => volume(name, { size: 20 })));
    await stack.run(UP);
    standIn.begin();
    expect((await stack.run(UP)).output).not.toMatch(/error:/);
    expect([...standIn.account.records.volume.keys()]).toEqual(before);
    expect([...standIn.account.records.volume.values()].map(({ size }) => size)).toEqual([20, 20, 20, 20]);
  });

  test.each([
    ["while it is adopted", true],
    ["after its adoption", false],
  ])("a volume of the fast tier stays when the program says %s that it is fast", async (_title, isAdopting) => {
    await using standIn = await startStandIn();
    const stack = await createRulesStack(standIn, where);
    const held = { name: "fast", size: 10, dataCenterId: "EU-RO-1", highPerformance: true };
    const { id } = standIn.account.add("volume", held);
    const adopting = { adoptId: id };
    for (const args of [
      adopting,
      isAdopting ? { ...adopting, highPerformance: true } : {},
      { highPerformance: true },
    ]) {
      await stack.declare([volume("fast", args)]);
      expect((await stack.run(UP)).output).not.toMatch(/error:/);
      expect([...standIn.account.records.volume.keys()]).toEqual([id]);
    }
    expect(standIn.writes).toEqual([]);
  });

  test.each([
    ["no option", {}],
    ["protect", { protect: true }],
    ["retainOnDelete", { retainOnDelete: true }],
  ])("a volume whose data center changes in the program is refused with %s, and stays", async (_title, options) => {
    await using standIn = await startStandIn();
    const stack = await createRulesStack(standIn, where);
    await stack.declare([volume("data")]);
    expect((await stack.run(UP)).output).not.toMatch(/error:/);
    const before = [...standIn.account.records.volume.keys()];
    standIn.begin();
    await stack.declare([volume("data", { dataCenterId: "US-KS-2" }, options)]);
    const refused = await stack.run(UP);
    expect([...standIn.account.records.volume.keys()]).toEqual(before);
    expect(standIn.account.deleted).toEqual([]);
    expect(refused.exitCode).not.toBe(0);
    // It says the way that keeps the data.
    expect(refused.output).toMatch(/new name|another name/i);
    expect(refused.output).toMatch(/copy/i);
  });

  test("reverting the commit that adopted a volume leaves the volume, and so does a destroy", async () => {
    await using standIn = await startStandIn();
    const stack = await createRulesStack(standIn, where);
    const of = (name: string) =>
      standIn.account.add("volume", { name, size: 10, dataCenterId: "EU-RO-1", highPerformance: false }).id;
    const [first, second] = [of("first"), of("second")];
    await stack.declare([volume("first", { adoptId: first }), volume("second", { adoptId: second })]);
    expect((await stack.run(UP)).output).not.toMatch(/error:/);
    await stack.declare([volume("second", { adoptId: second })]);
    const reverted = await stack.run(UP);
    expect([...standIn.account.records.volume.keys()]).toEqual([first, second]);
    expect(reverted.output).toContain(first);
    expect(reverted.output).toMatch(/billed/);
    const destroyed = await stack.run(DESTROY);
    expect([...standIn.account.records.volume.keys()]).toEqual([first, second]);
    expect(destroyed.output).toContain(second);
    expect(destroyed.output).toMatch(/billed/);
  });
});

test.each(
  FORMS,
)("a volume that was renamed by adoptId is the stack's own after adoptId is removed: %s", async (form) => {
  await using standIn = await startStandIn();
  const stack = await createRulesStack(standIn, { form, api: "graphql" });
  await stack.declare([volume("old")]);
  expect((await stack.run(UP)).output).not.toMatch(/error:/);
  const [id = ""] = standIn.account.records.volume.keys();
  await stack.declare([volume("new", { name: "old", adoptId: id })]);
  expect((await stack.run(UP)).output).not.toMatch(/error:/);
  expect([...standIn.account.records.volume.keys()]).toEqual([id]);
  await stack.declare([volume("new", { name: "old" })]);
  expect((await stack.run(UP)).output).not.toMatch(/error:/);
  expect([...standIn.account.records.volume.keys()]).toEqual([id]);
  expect(await stack.run(DESTROY)).toMatchObject({ exitCode: 0 });
  expect([...standIn.account.records.volume.keys()]).toEqual([]);
});

test.each(
  APIS,
)("an imported volume of the fast tier stays when the program says that it is fast, over %s", async (api) => {
  await using standIn = await startStandIn();
  const stack = await createRulesStack(standIn, { form: "plugin", api });
  const held = { name: "fast", size: 10, dataCenterId: "EU-RO-1", highPerformance: true };
  const { id } = standIn.account.add("volume", held);
  for (const [args, options] of [
    [{}, { import: id }],
    [{}, {}],
    [{ highPerformance: true }, {}],
  ] as const) {
    await stack.declare([volume("fast", args, options)]);
    expect((await stack.run(UP)).output).not.toMatch(/error:/);
    expect([...standIn.account.records.volume.keys()]).toEqual([id]);
  }
  expect(standIn.writes).toEqual([]);
});
