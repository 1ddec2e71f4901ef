import { type Lie, lieAboutNamed } from "../../faults/rules/lies";
import {
  createRulesStack,
  DESTROY,
  type Declared,
  EVERYWHERE,
  REFRESH,
  rowsFor,
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

/** The options with which a change of the data center is refused, by the name of the volume. */
const OPTIONS = { none: {}, protected: { protect: true }, retained: { retainOnDelete: true } };

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

  test.each(
    rowsFor(where, [
      ["up --refresh", [UP_REFRESH]],
      ["a refresh", [REFRESH, UP]],
    ] as const),
  )("a volume stays if %s reads another spelling of its data center", async (_title, commands) => {
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

  test("a volume of the fast tier stays when the program says that it is fast while it is adopted, after its adoption, or after its import", async () => {
    await using standIn = await startStandIn();
    const stack = await createRulesStack(standIn, where);
    const fast = (name: string) =>
      standIn.account.add("volume", { name, size: 10, dataCenterId: "EU-RO-1", highPerformance: true }).id;
    // The npm form cannot import.
    const ids = [fast("while"), fast("after"), ...(where.form === "plugin" ? [fast("imported")] : [])];
    const [adoptWhile, adoptAfter] = ids.map((adoptId) => ({ adoptId }));
    for (const [argsWhile, argsAfter, argsImported, options] of [
      [adoptWhile, adoptAfter, {}, { import: ids[2] }],
      [{ ...adoptWhile, highPerformance: true }, {}, {}, {}],
      [{ highPerformance: true }, { highPerformance: true }, { highPerformance: true }, {}],
    ] as const) {
      const imported = where.form === "plugin" ? [volume("imported", argsImported, options)] : [];
      await stack.declare([volume("while", argsWhile), volume("after", argsAfter), ...imported]);
      expect((await stack.run(UP)).output).not.toMatch(/error:/);
      expect([...standIn.account.records.volume.keys()]).toEqual(ids);
    }
    expect(standIn.writes).toEqual([]);
  });

  test("a volume whose data center changes in the program is refused with no option, protect and retainOnDelete, and stays", async () => {
    await using standIn = await startStandIn();
    const stack = await createRulesStack(standIn, where);
    const names = Object.keys(OPTIONS);
    await stack.declare(names.map((name) => volume(name)));
    expect((await stack.run(UP)).output).not.toMatch(/error:/);
    const before = [...standIn.account.records.volume.keys()];
    standIn.begin();
    for (const [changed, options] of Object.entries(OPTIONS)) {
      const declared = names.filter((name) => name !== changed).map((name) => volume(name));
      await stack.declare([...declared, volume(changed, { dataCenterId: "US-KS-2" }, options)]);
      const refused = await stack.run(UP);
      expect([...standIn.account.records.volume.keys()]).toEqual(before);
      expect(standIn.account.deleted).toEqual([]);
      expect([changed, refused.exitCode === 0]).toEqual([changed, false]);
      // It says the way that keeps the data.
      expect(refused.output).toMatch(/new name|another name/i);
      expect(refused.output).toMatch(/copy/i);
    }
  });

  test("reverting the commit that adopted a volume leaves the volume, and so does a destroy, but one that was renamed by adoptId is the stack's own", async () => {
    await using standIn = await startStandIn();
    const stack = await createRulesStack(standIn, where);
    const { volume: held } = standIn.account.records;
    const of = (name: string) =>
      standIn.account.add("volume", { name, size: 10, dataCenterId: "EU-RO-1", highPerformance: false }).id;
    const [first, second] = [of("first"), of("second")];
    const adopted = volume("second", { adoptId: second });
    await stack.declare([volume("first", { adoptId: first }), adopted, volume("old")]);
    expect((await stack.run(UP)).output).not.toMatch(/error:/);
    const own = [...held.keys()].at(-1);
    await stack.declare([adopted, volume("new", { name: "old", adoptId: own })]);
    const reverted = await stack.run(UP);
    expect(reverted.output).not.toMatch(/error:/);
    expect([...held.keys()]).toEqual([first, second, own]);
    expect(reverted.output).toContain(first);
    expect(reverted.output).toMatch(/billed/);
    await stack.declare([adopted, volume("new", { name: "old" })]);
    expect((await stack.run(UP)).output).not.toMatch(/error:/);
    expect([...held.keys()]).toEqual([first, second, own]);
    const destroyed = await stack.run(DESTROY);
    expect(destroyed).toMatchObject({ exitCode: 0, output: expect.stringContaining(second) });
    expect([...held.keys()]).toEqual([first, second]);
    expect(destroyed.output).toMatch(/billed/);
  });
});
