// Resolves an example: each value gets the type that the schema declares for it.

/** @typedef {import("../types").Schema} Schema */

/**
 * @typedef {{ is: "reference", from: "config" | "resource" | "function", name: string, output:
 * string }} Reference
 * @typedef {{ is: "literal", type: string, value: string | number | boolean }} Literal
 * @typedef {{ is: "list", type: string, items: readonly Node[] }} List of the type of its items
 * @typedef {{ is: "map", type: string, entries: readonly Entry[], isAny: boolean }} Mapping of the
 * type of its values; `isAny` where the schema declares no map
 * @typedef {{ is: "object", type: string, entries: readonly Entry[] }} Structure
 * @typedef {Reference | Literal | List | Mapping | Structure} Node
 * @typedef {readonly [key: string, value: Node]} Entry
 * @typedef {{ is: "resource" | "function", name: string, type: string, args: readonly Entry[],
 * isUsed: boolean }} Statement
 * @typedef {object} Program
 * @property {readonly string[]} secrets
 * @property {readonly Statement[]} statements
 * @property {readonly (readonly [string, Reference])[]} outputs
 */

const MODULE = "serverless-gpu:index";
const ANY = "any";

/**
 * @param {import("./sources").Example} example
 * @param {{ resources: Record<string, Schema>, functions: Record<string, Schema>, types:
 * Record<string, Schema> }} schema
 * @returns {Program}
 */
function resolveProgram({ secrets = [], program, outputs }, schema) {
  const text = JSON.stringify([program, outputs]);
  /** @type {(text: string) => Reference | undefined} */
  const referenceOf = (text) => {
    const [, name = "", output = ""] = /^\$(\w+)(?:\.(\w+))?$/.exec(text) ?? [];
    if (name === "") return undefined;
    const declared = program[name];
    if (!declared && !secrets.includes(name))
      throw new Error(`an example refers to ${name}, which it does not declare`);
    const from = !declared ? "config" : "resource" in declared ? "resource" : "function";
    return { is: "reference", from, name, output };
  };
  /** @type {(value: unknown, type: Schema) => Node} */
  const nodeOf = (value, type) => {
    const reference = typeof value === "string" ? referenceOf(value) : undefined;
    if (reference) return reference;
    if (Array.isArray(value)) {
      const items = value.map((each) => nodeOf(each, part(type.items)));
      return { is: "list", type: nameOf(part(type.items)), items };
    }
    if (typeof value === "object" && value !== null) return structureOf(value, type);
    if (typeof value !== "string" && typeof value !== "number" && typeof value !== "boolean")
      throw new Error("an example has a value of no type");
    return { is: "literal", type: nameOf(type) === ANY ? typeof value : nameOf(type), value };
  };
  /** @type {(value: object, type: Schema) => Node} */
  const structureOf = (value, type) => {
    const declared = schema.types[String(type.$ref).replace("#/types/", "")];
    const typeOf = (/** @type {string} */ key) =>
      declared ? field(declared.properties, key) : part(type.additionalProperties);
    const entries = entriesOf(value, typeOf);
    if (declared) return { is: "object", type: nameOf(type), entries };
    return { is: "map", type: nameOf(part(type.additionalProperties)), entries, isAny: nameOf(type) === ANY };
  };
  /** @type {(value: object, typeOf: (key: string) => Schema) => Entry[]} */
  const entriesOf = (value, typeOf) => Object.entries(value).map(([key, each]) => [key, nodeOf(each, typeOf(key))]);

  const statements = Object.entries(program).map(([name, each]) => {
    const isUsed = text.includes(`"$${name}.`) || text.includes(`"$${name}"`);
    if ("resource" in each) {
      const { inputProperties } = field(schema.resources, `${MODULE}:${each.resource}`);
      const args = entriesOf(each.properties, (key) => field(inputProperties, key));
      return { is: /** @type {const} */ ("resource"), name, type: each.resource, args, isUsed };
    }
    const { inputs } = field(schema.functions, `${MODULE}:${each.function}`);
    const args = entriesOf(each.arguments ?? {}, (key) => field(part(inputs).properties, key));
    return { is: /** @type {const} */ ("function"), name, type: each.function, args, isUsed };
  });
  const references = Object.entries(outputs).map(([name, output]) => {
    const reference = referenceOf(output);
    if (!reference) throw new Error(`the output ${name} of an example is no reference`);
    return /** @type {const} */ ([name, reference]);
  });
  return { secrets, statements, outputs: references };
}

/**
 * Returns the type of a part of a value: any, where the schema declares none.
 * @param {unknown} schema
 * @returns {Schema}
 */
function part(schema) {
  return typeof schema === "object" && schema !== null ? { ...schema } : { $ref: "pulumi.json#/Any" };
}

/**
 * @param {unknown} properties
 * @param {string} name
 * @returns {Schema}
 */
function field(properties, name) {
  const schema = part(properties)[name];
  if (!schema) throw new Error(`an example sets ${name}, which the schema does not have`);
  return part(schema);
}

/** @param {Schema} type */
function nameOf({ $ref, type }) {
  if (typeof $ref !== "string") return String(type);
  return $ref === "pulumi.json#/Any" ? ANY : $ref.replace(/^.*:/, "");
}

module.exports = { ANY, resolveProgram };
