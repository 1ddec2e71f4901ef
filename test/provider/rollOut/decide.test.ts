import * as fc from "fast-check";
import type { Properties } from "../../../provider/properties";
import { nextStep, type RollOutRecord, type Sight } from "../../../provider/rollOut/decide";
import { differing, mergedSettings, nested, serves } from "../../../provider/rollOut/settings";

const IMAGES = ["me/llama:1", "me/llama:2", "me/llama:3"];
const image = fc.constantFrom(...IMAGES);
const variables = fc.dictionary(fc.constantFrom("A", "B", "C"), fc.constantFrom("1", "2"), { maxKeys: 3 });
const workersMax = fc.constantFrom(0, 1, 3);
const inputs = fc.constantFrom("inputs 1", "inputs 2");

const endpoint = fc.record({ imageName: image, env: variables, workersMax });
const settings = fc.record(
  {
    imageName: image,
    env: fc.dictionary(fc.constantFrom("A", "B"), fc.constantFrom("1", null), { minKeys: 1, maxKeys: 2 }),
    workersMax: fc.constantFrom(1, 3),
  },
  { requiredKeys: ["imageName"] },
);
const record: fc.Arbitrary<RollOutRecord> = fc.record({
  phase: fc.constantFrom("judging", "restoring", "refused"),
  inputs,
  release: settings,
  former: settings,
  reason: fc.constant("it failed"),
  after: fc.constant(""),
});
const sight: fc.Arbitrary<Sight> = fc.record({
  record: fc.option(record, { nil: undefined }),
  inputs,
  wanted: settings,
  now: endpoint,
  state: endpoint,
  unjudged: fc.option(settings, { nil: undefined }),
  isAdoption: fc.constant(false),
  shownRefusal: fc.option(fc.constant("it was taken back"), { nil: undefined }),
});

/** Returns an endpoint after a save of settings. */
function after(now: Properties, saved: Properties): Properties {
  const { env = {}, ...others } = nested(mergedSettings(now, saved));
  const present = Object.entries(env as Properties).filter(([, value]) => value !== null);
  return { ...others, env: Object.fromEntries(present) };
}

test("a release is saved only if the endpoint does not run it yet, and a restore reverts every change of the save", () => {
  fc.assert(
    fc.property(sight, (each) => {
      const step = nextStep({ ...each, record: undefined, unjudged: undefined, state: each.now });
      if (step.do !== "release") return;
      expect(serves(each.wanted, each.now)).toBe(false);
      const saved = after(each.now, each.wanted);
      expect(serves(each.wanted, saved)).toBe(true);
      const restored = after(saved, step.former);
      // A restore switches no endpoint off.
      const { workersMax, ...others } = each.now;
      expect(restored).toMatchObject(workersMax === 0 ? others : each.now);
      expect(step.former.workersMax).not.toBe(0);
    }),
  );
});

test("a release that replaces an unjudged release is rolled back to the version in state", () => {
  fc.assert(
    fc.property(sight, fc.boolean(), (each, isNoted) => {
      const good = { imageName: "me/llama:good", env: each.state.env, workersMax: each.state.workersMax };
      const unjudged = isNoted ? { imageName: good.imageName } : undefined;
      // A refresh records what serves, and notes the former settings.
      const state = isNoted ? { ...good, imageName: each.now.imageName } : good;
      const step = nextStep({ ...each, record: undefined, unjudged, state, shownRefusal: undefined });
      if (step.do === "release" || step.do === "judge") expect(step.former.imageName).toBe(good.imageName);
      if (step.do === "release") {
        const restored = after(after(each.now, each.wanted), step.former);
        expect(restored.imageName).toBe(good.imageName);
        expect(step.former.workersMax).not.toBe(0);
      }
    }),
  );
});

test("a release that a run on this machine has rejected is never saved again for the same inputs", () => {
  fc.assert(
    fc.property(sight, record, (each, recorded) => {
      const step = nextStep({ ...each, record: { ...recorded, phase: "refused", inputs: each.inputs } });
      expect(["refuse", "restore"]).toContain(step.do);
      expect(step.do === "restore").toBe(serves(recorded.release, each.now));
    }),
  );
});

test("a killed restore continues with the recorded settings, whichever release the endpoint runs", () => {
  fc.assert(
    fc.property(sight, record, (each, recorded) => {
      const restoring: RollOutRecord = { ...recorded, phase: "restoring", inputs: each.inputs };
      expect(nextStep({ ...each, record: restoring })).toEqual({ do: "restore", record: restoring });
    }),
  );
});

test("after a kill before the verdict, the recorded settings are restored even if state already contains the new ones", () => {
  fc.assert(
    fc.property(sight, (each) => {
      const former = { imageName: "me/llama:0", "env.A": "0" };
      const judging: RollOutRecord = {
        phase: "judging",
        inputs: each.inputs,
        release: each.wanted,
        former,
        reason: "",
        after: "",
      };
      const now = after(each.now, each.wanted);
      const step = nextStep({ ...each, now, state: now, record: judging });
      expect(step).toMatchObject({ do: "judge", former });
    }),
  );
});

test("a killed release that another program replaces is never restored, but the settings before it are", () => {
  const former = { imageName: "me/llama:1" };
  const release = { imageName: "me/llama:2" };
  const killed: RollOutRecord = { phase: "judging", inputs: "inputs 1", release, former, reason: "", after: "" };
  const now = { imageName: "me/llama:2", env: {}, workersMax: 3 };
  const wanted = { imageName: "me/llama:3" };
  const both = {
    wanted,
    now,
    state: { ...now, ...former },
    unjudged: undefined,
    shownRefusal: undefined,
    isAdoption: false,
  };
  expect(nextStep({ ...both, inputs: "inputs 2", record: killed })).toMatchObject({
    do: "release",
    release: wanted,
    former,
  });
});

test("nothing is judged if the endpoint, state and the program match", () => {
  fc.assert(
    fc.property(endpoint, (now) => {
      const wanted = { ...now, env: { ...now.env } };
      const agreeing = { wanted, now, state: now, unjudged: undefined, shownRefusal: undefined, inputs: "inputs 1" };
      expect(nextStep({ ...agreeing, record: undefined, isAdoption: false })).toEqual({ do: "nothing" });
      // Another machine may have made the release for the same adoption.
      expect(nextStep({ ...agreeing, record: undefined, isAdoption: true })).toMatchObject({ do: "judge", former: {} });
    }),
  );
});

test("a release that is in service but was never judged is judged without a save, and can be rolled back", () => {
  fc.assert(
    fc.property(sight, (each) => {
      const step = nextStep({ ...each, record: undefined });
      if (step.do !== "judge") return;
      expect(serves(each.wanted, each.now)).toBe(true);
      expect(Object.keys(differing(step.former, after(each.now, step.former)))).toEqual([]);
    }),
  );
});

test("the worker counts of an endpoint that was left at zero are never restored, even if the program sets only workersMin", () => {
  const inService = { imageName: "me/llama:1", env: {}, workersMin: 1, workersMax: 3 };
  const wanted = { imageName: "me/llama:2", workersMin: 1 };
  const sight = {
    record: undefined,
    inputs: "inputs 1",
    isAdoption: false,
    unjudged: undefined,
    shownRefusal: undefined,
  };
  const step = nextStep({ ...sight, wanted, now: { ...inService, workersMin: 0, workersMax: 0 }, state: inService });
  expect(step).toEqual({ do: "release", release: { imageName: "me/llama:2" }, former: { imageName: "me/llama:1" } });
});
