import { jsonCopy } from "../../../emulator/io/json";

describe("a copy of what JSON can hold", () => {
  test.each([
    ["-0", [-0], [0]],
    ["an object with toJSON", { at: { toJSON: () => "now" } }, { at: "now" }],
    ["an array with toJSON", [Object.assign([1], { toJSON: () => "list" })], ["list"]],
    ["functions and symbols", { a: () => 1, b: [Symbol("c"), undefined] }, { b: [null, null] }],
    ["the key __proto__", JSON.parse('{"__proto__": {"a": 1}}'), JSON.parse('{"__proto__": {"a": 1}}')],
    [
      "a class",
      new (class Point {
        x = 1;
      })(),
      { x: 1 },
    ],
  ])("a copy of what JSON can hold handles %s", (_what, value, expected) => {
    expect(jsonCopy(value)).toStrictEqual(expected);
  });

  test("a copy of what JSON can hold shares no references with the value", () => {
    const value = { list: [{ name: "a" }] };
    const copied = jsonCopy(value) as typeof value;
    for (const each of value.list) each.name = "b";
    expect(copied).toEqual({ list: [{ name: "a" }] });
  });

  test("a copy of what JSON can hold copies deep values, and refuses cycles and BigInts like JSON.stringify", () => {
    const deep = Array.from({ length: 500 }).reduce<unknown>((inner) => ({ inner }), "end");
    expect(JSON.stringify(jsonCopy(deep))).toBe(JSON.stringify(deep));
    const cycle: Record<string, unknown> = {};
    cycle.again = { cycle };
    expect(() => jsonCopy(cycle)).toThrow(TypeError);
    expect(() => jsonCopy([1n])).toThrow(TypeError);
  });

  test("a copy of what JSON can hold can contain 1,000 levels", () => {
    const levels = (count: number) => Array.from({ length: count }).reduce<unknown>((inner) => [inner], "[[");
    expect(jsonCopy(levels(1_000))).toEqual(levels(1_000));
    for (const count of [1_001, 5_000, 50_000])
      expect(() => jsonCopy(levels(count))).toThrow("the value is nested more than 1,000 levels deep");
  });
});
