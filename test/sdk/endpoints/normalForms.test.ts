import fc from "fast-check";
import { normalizeGpuIds, normalizeName, normalizeSet, splitList } from "../../../sdk/endpoints/normalForms";

const tier = fc.constantFrom("AMPERE_16", "AMPERE_24", "ADA_24", "AMPERE_80", "HOPPER_141");
const exclusion = fc.constantFrom("-NVIDIA L4", "- NVIDIA L4", "-NVIDIA A40", "-NVIDIA RTX A5000");
const place = fc.constantFrom("CZ", "RO", "US", "EU-RO-1", "EUR-IS-1");
const anyText = fc.string({ unit: "binary" });
const space = fc.constantFrom("", " ", "  ", "\t", "\n");

/** The parts as a comma-separated list with spaces and empty parts in it. */
function written(parts: readonly string[], spaces: readonly string[]): string {
  return parts.map((part, index) => `${spaces[index % spaces.length]}${part}${spaces[0]}`).join(",,");
}

const spaces = fc.array(space, { minLength: 1, maxLength: 4 });

describe("a comma-separated list", () => {
  test("a comma-separated list has the same normal form as a string, as a list, and as a list of such strings", () => {
    expect(splitList("a, b ,,c")).toEqual(["a", "b", "c"]);
    expect(splitList(["a", " b", "", "c"])).toEqual(["a", "b", "c"]);
    expect(splitList(["a, b", "c"])).toEqual(["a", "b", "c"]);
    expect(splitList(" , ")).toEqual([]);
  });
});

describe("gpuIds", () => {
  test("gpuIds keep the order of pools, followed by the sorted exclusions without duplicates", () => {
    expect(normalizeGpuIds("-NVIDIA L4, ADA_24 ,AMPERE_16,-NVIDIA A40,ADA_24")).toBe(
      "ADA_24,AMPERE_16,-NVIDIA A40,-NVIDIA L4",
    );
    expect(normalizeGpuIds(["AMPERE_24", "- NVIDIA L4", "-NVIDIA L4"])).toBe("AMPERE_24,-NVIDIA L4");
    expect(normalizeGpuIds("A,B")).not.toBe(normalizeGpuIds("B,A"));
  });

  test("gpuIds do not change when they are normalized again, for any string", () => {
    fc.assert(fc.property(anyText, (text) => normalizeGpuIds(normalizeGpuIds(text)) === normalizeGpuIds(text)));
    fc.assert(
      fc.property(fc.array(fc.constantFrom("-", " ", ",", "A", "b", "- ")), (parts) => {
        const once = normalizeGpuIds(parts.join(""));
        return normalizeGpuIds(once) === once;
      }),
    );
  });

  test("gpuIds have the same normal form regardless of spaces and the order of exclusions", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(tier, { minLength: 1 }),
        fc.shuffledSubarray(["-A", "-B", "-C"]),
        spaces,
        (tiers, out, gaps) => {
          const sorted = [...out].sort();
          return normalizeGpuIds(written([...out, ...tiers], gaps)) === [...tiers, ...sorted].join(",");
        },
      ),
    );
  });

  test("gpuIds have the same normal form as a list and as a string", () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(tier, exclusion)),
        (parts) => normalizeGpuIds(parts) === normalizeGpuIds(parts.join(",")),
      ),
    );
  });
});

describe("locations", () => {
  test("locations are sorted and contain no duplicates", () => {
    expect(normalizeSet(" US,CZ , EU-RO-1,US")).toBe("CZ,EU-RO-1,US");
  });

  test.each([[""], [null], [undefined], [[]], [" , "], [["", " "]]])("accept %j for any region", (value) => {
    expect(normalizeSet(value)).toBe("");
  });

  test("locations have the same normal form in any order, with any spaces, as a list or a string", () => {
    fc.assert(
      fc.property(fc.array(place), fc.infiniteStream(fc.nat()), spaces, (places, random, gaps) => {
        const shuffled = places
          .map((each) => ({ each, key: random.next().value }))
          .sort((a, b) => a.key - b.key)
          .map(({ each }) => each);
        const expected = normalizeSet(places);
        return normalizeSet(shuffled) === expected && normalizeSet(written(shuffled, gaps)) === expected;
      }),
    );
  });

  test("locations do not change when they are normalized again, for any string", () => {
    fc.assert(fc.property(anyText, (text) => normalizeSet(normalizeSet(text)) === normalizeSet(text)));
  });

  test("locations keep upper and lower case, because the contract does not say that case is ignored", () => {
    expect(normalizeSet("cz,CZ")).toBe("CZ,cz");
  });
});

describe("a name", () => {
  test.each([
    ["llama -fb", "llama"],
    ["llama", "llama"],
    ["llama-fb", "llama-fb"],
    ["llama -fb 2", "llama -fb 2"],
    ["llama -FB", "llama -FB"],
    ["llama -fb -fb", "llama"],
  ])("%j becomes %j without the service's suffix", (name, expected) => {
    expect(normalizeName(name)).toBe(expected);
  });

  test("a name does not change when it is normalized again, for any string", () => {
    const suffixed = fc.array(fc.constantFrom(" -fb", "a", " ", "-fb")).map((parts) => parts.join(""));
    fc.assert(
      fc.property(fc.oneof(anyText, suffixed), (name) => {
        const once = normalizeName(name);
        return normalizeName(once) === once && name.startsWith(once);
      }),
    );
  });
});
