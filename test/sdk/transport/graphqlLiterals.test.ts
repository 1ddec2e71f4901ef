import fc from "fast-check";
import { buildSchema, Kind, parse, validate, valueFromASTUntyped } from "graphql";
import { EnumValue, type Literal, toQuery } from "../../../sdk/graphql/transport";

/** The one field of a document and the value of its argument `input`, as a server reads them. */
function readBack(document: string) {
  const { definitions } = parse(document);
  const [operation] = definitions;
  if (definitions.length !== 1 || operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error("not one operation");
  const { selections } = operation.selectionSet;
  const [field] = selections;
  if (selections.length !== 1 || field?.kind !== Kind.FIELD) throw new Error("not one field");
  const argument = field.arguments?.find(({ name }) => name.value === "input");
  const value = argument && valueFromASTUntyped(argument.value);
  return { operation, field, argument, value: JSON.parse(JSON.stringify(value ?? null)) as unknown };
}

function roundTrip(input: Literal): unknown {
  const document = toQuery({ type: "mutation", name: "saveEndpoint", args: { input }, selection: "id" });
  const { field, value } = readBack(document);
  expect([field.name.value, field.arguments?.length, field.alias]).toEqual(["saveEndpoint", 1, undefined]);
  return value;
}

const fieldName = fc.stringMatching(/^[_a-zA-Z][_a-zA-Z0-9]{0,8}$/).filter((name) => name !== "__proto__");
const scalar = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({
    unit: fc.constantFrom('"', "\\", "\n", "\r", "{", "}", ")", "#", "$", "u0041", '"""', "\u2028", "\u0000"),
  }),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (value === 0 ? 0 : value)),
  fc.boolean(),
  fc.constant(null),
);
const literal = fc.letrec<{ value: Literal }>((tie) => ({
  value: fc.oneof({ depthSize: "small" }, scalar, fc.dictionary(fieldName, tie("value"), { noNullPrototype: true })),
})).value;

describe("a literal", () => {
  test("a literal is read back unchanged, whether it is a string, a number or an object", () => {
    fc.assert(
      fc.property(literal, (value) => {
        expect(roundTrip(value)).toEqual(value);
      }),
      { numRuns: 300 },
    );
  });

  test.each([
    0,
    -0,
    -1,
    2 ** 31,
    2 ** 53,
    2 ** 60,
    1e21,
    1e-7,
    0.1,
    Number.MAX_VALUE,
    Number.MIN_VALUE,
    -1e100,
  ])("%p becomes a number that GraphQL accepts", (value) => {
    expect(roundTrip({ value })).toEqual({ value: value === 0 ? 0 : value });
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])("%p is refused", (value) => {
    expect(() => roundTrip({ value })).toThrow(RangeError);
  });

  test.each([
    'x"}) { id } deleteEndpoint(id: "victim") #',
    '"""',
    '\\"',
    "\\u0022}) { id }",
    "x\n}) { id }\nmutation { deleteEndpoint(id: 1) }",
    "$input",
    "\u0000\u001f\u007f\u2028\u2029\ufeff😀",
    "# a comment",
  ])("%j remains a string", (name) => {
    expect(roundTrip({ name, id: "kept" })).toEqual({ name, id: "kept" });
  });

  test("undefined fields are omitted, and null is kept", () => {
    expect(roundTrip({ a: undefined, b: null, c: { d: undefined } })).toEqual({ b: null, c: {} });
  });

  test("an enum value is written without quotes, and a string that looks like one with quotes", () => {
    const document = toQuery({
      type: "mutation",
      name: "f",
      args: { input: { e: new EnumValue("FLASHBOOT"), s: "FLASHBOOT" } },
    });
    expect(document).toContain("e: FLASHBOOT");
    expect(document).toContain('s: "FLASHBOOT"');
  });

  test.each([
    "",
    "A B",
    "A}) { id }",
    '"A"',
    "1A",
    "true",
    "false",
    "null",
    "A\n",
  ])("%j is refused as an enum value", (name) => {
    expect(() => new EnumValue(name)).toThrow(RangeError);
  });
});

describe("a document", () => {
  const schema = buildSchema(`
    type Query { myself: Account } type Account { endpoints: [Endpoint] } type Endpoint { id: String name: String }
    type Mutation { saveEndpoint(input: Input!): Endpoint deleteEndpoint(id: String!): String }
    input Input { name: String }
  `);

  test("consists of one unnamed operation without variables that a server accepts", () => {
    const documents = [
      toQuery({ type: "query", name: "myself", selection: "endpoints { id name }" }),
      toQuery({ type: "mutation", name: "saveEndpoint", args: { input: { name: 'a "b"' } }, selection: "id" }),
      toQuery({ type: "mutation", name: "deleteEndpoint", args: { id: "abc" } }),
    ];
    for (const document of documents) {
      const { operation } = readBack(document);
      expect([operation.name, operation.variableDefinitions?.length]).toEqual([undefined, 0]);
      expect(validate(schema, parse(document))).toEqual([]);
    }
  });
});
