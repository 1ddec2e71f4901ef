import fc from "fast-check";
import { receive, toWire } from "../../../plugin/wire/properties";
import { UNKNOWN } from "../../../provider/engine/properties";
import { toStruct } from "../../support/dynamicProvider";
import { secret } from "../../support/plugin";

const KEY = fc.stringMatching(/^[a-zA-Z_]\w{0,8}$/).filter((key) => !(key in {}));
/**
 * Any JSON but a key `__proto__`, which the library of the protocol takes for the object's
 * prototype.
 */
const VALUE = fc
  .jsonValue({ maxDepth: 2, noUnicodeString: false } as fc.JsonSharedConstraints)
  .filter((value) => !JSON.stringify(value).includes('"__proto__"'));

test("plain values arrive unchanged", () => {
  fc.assert(
    fc.property(fc.dictionary(KEY, VALUE), (properties) => {
      // The protocol has one zero.
      const plain = JSON.parse(JSON.stringify(properties));
      expect(receive(toWire(plain))).toEqual({ properties: plain, secrets: [] });
    }),
  );
});

test("secrets arrive as plain values with a list of their names, and are sent back as secrets under the same names", () => {
  fc.assert(
    fc.property(fc.dictionary(KEY, fc.tuple(fc.string(), fc.boolean())), (values) => {
      const entries = Object.entries(values);
      const plain = Object.fromEntries(entries.map(([key, [value]]) => [key, value]));
      const marked = Object.fromEntries(
        entries.map(([key, [value, isSecret]]) => [key, isSecret ? secret(value) : value]),
      );
      const received = receive(toStruct({ ...marked, env: marked }));
      expect(received.properties).toEqual({ ...plain, env: plain });
      expect(toWire(received.properties, received.secrets).toJavaScript()).toEqual({ ...marked, env: marked });
    }),
  );
});

test.each([
  [{ gpuIds: ["a", secret("b")] }, ["gpuIds"], { gpuIds: secret(["a", "b"]) }],
  [{ input: { a: { b: secret(1) } } }, ["input.a"], { input: { a: secret({ b: 1 }) } }],
  [{ env: { "a.b": secret("c") } }, ["env"], { env: secret({ "a.b": "c" }) }],
  [{ env: secret({ A: secret("b") }) }, ["env", "env.A"], { env: secret({ A: "b" }) }],
])("%j contains the secrets %j", (properties, secrets, sentBack) => {
  const received = receive(toStruct(properties));
  expect(received.secrets).toEqual(secrets);
  expect(toWire(received.properties, received.secrets).toJavaScript()).toEqual(sentBack);
});

test("unknown values of every type share one placeholder", () => {
  const unknownNumber = "3eeb2bf0-c639-47a8-9e75-3b44932eb421";
  const unknownList = "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2";
  const { properties } = receive(toStruct({ a: unknownNumber, b: { c: [unknownList] }, d: secret(unknownNumber) }));
  expect(properties).toEqual({ a: UNKNOWN, b: { c: [UNKNOWN] }, d: UNKNOWN });
});
