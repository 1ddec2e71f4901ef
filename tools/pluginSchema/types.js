// Translates types of TypeScript into types of a Pulumi schema.
const ts = require("typescript");

/** @typedef {import("./declarations").Property} Property */
/** @typedef {import("./declarations").Declarations} Declarations */
/** @typedef {Record<string, unknown>} Schema */

const MODULE = "serverless-gpu:index";
const ANY = { $ref: "pulumi.json#/Any" };

/** Types of the dynamic form that wrap a value. The plugin's languages have their own wrappers. */
const WRAPPERS = ["Promise", "OutputInstance"];

/** Properties of nested types that are secret in every program. */
const NESTED_SECRETS = ["accessSecret"];

/** Translates types, and collects the named ones that it meets in `types`. */
class Translator {
  /**
   * @param {Declarations} declarations
   * @param {readonly string[]} enums names of the enums
   */
  constructor(declarations, enums) {
    this.declarations = declarations;
    this.enums = enums;
    /** @type {Record<string, Schema>} */
    this.types = {};
    this.words = new Map(enums.map((name) => [name, declarations.wordsOf(name)]));
  }

  /**
   * @param {ts.Type} type
   * @param {{ isWhole?: boolean, isOutput?: boolean }} options
   * @returns {Schema}
   */
  typeOf(type, options = {}) {
    const output = this.outputOf(type);
    if (output) return this.typeOf(output, options);
    const { flags } = type;
    if (flags & (ts.TypeFlags.Unknown | ts.TypeFlags.Any)) return ANY;
    if (type.isUnion()) return this.typeOfUnion(type, options);
    if (flags & (ts.TypeFlags.StringLike | ts.TypeFlags.Intersection)) return { type: "string" };
    if (flags & ts.TypeFlags.NumberLike) return { type: options.isWhole ? "integer" : "number" };
    if (flags & ts.TypeFlags.BooleanLike) return { type: "boolean" };
    if (this.declarations.checker.isArrayType(type)) {
      const [element] = this.declarations.checker.getTypeArguments(/** @type {ts.TypeReference} */ (type));
      return { type: "array", items: element ? this.typeOf(element, options) : ANY };
    }
    const values = this.declarations.checker.getIndexInfoOfType(type, ts.IndexKind.String)?.type;
    if (values) return { type: "object", additionalProperties: this.typeOf(values, options) };
    return { $ref: `#/types/${this.namedType(type, options)}` };
  }

  /**
   * Returns the type of the value of an output.
   * @param {ts.Type} type
   */
  outputOf(type) {
    if (type.aliasSymbol?.name === "Output") return type.aliasTypeArguments?.[0];
    if (type.symbol?.name !== "OutputInstance") return undefined;
    return this.declarations.checker.getTypeArguments(/** @type {ts.TypeReference} */ (type))[0];
  }

  /**
   * @param {ts.UnionType} type
   * @param {{ isWhole?: boolean, isOutput?: boolean }} options
   * @returns {Schema}
   */
  typeOfUnion(type, options) {
    const empty = ts.TypeFlags.Null | ts.TypeFlags.Undefined;
    const members = type.types.filter((each) => !(each.flags & empty) && !WRAPPERS.includes(each.symbol?.name));
    // Leave out a string that is an alternative to a list: it is comma-separated, and every
    // language has lists.
    const list = members.find((each) => this.declarations.checker.isArrayType(each));
    if (list) return this.typeOf(list, options);
    const literals = members.flatMap((each) => (each.isStringLiteral() ? [each.value] : []));
    const name = this.enums.find((each) => sameWords(this.words.get(each) ?? [], literals));
    if (name === undefined || options.isOutput) {
      const [first] = members;
      return first ? this.typeOf(first, options) : ANY;
    }
    // An open enum is a string, because Java programs cannot mix both. The description lists its
    // values.
    return isOpen(members, literals) ? { type: "string" } : { type: "string", $ref: `#/types/${this.namedEnum(name)}` };
  }

  /**
   * Returns the values of an open enum, to which the service adds values over time, or of a list of
   * them.
   * @param {ts.Type} type
   * @returns {readonly string[]}
   */
  openWordsOf(type) {
    if (this.declarations.checker.isArrayType(type)) {
      const [element] = this.declarations.checker.getTypeArguments(/** @type {ts.TypeReference} */ (type));
      return element ? this.openWordsOf(element) : [];
    }
    const output = this.outputOf(type);
    if (output) return this.openWordsOf(output);
    if (!type.isUnion()) return [];
    const literals = type.types.flatMap((each) => (each.isStringLiteral() ? [each.value] : []));
    const isEnum = [...this.words.values()].some((each) => sameWords(each, literals));
    if (isEnum && isOpen(type.types, literals)) return literals;
    return type.types.map((each) => this.openWordsOf(each)).find((each) => each.length > 0) ?? [];
  }

  /** @param {string} name */
  namedEnum(name) {
    const token = `${MODULE}:${name}`;
    this.types[token] = {
      type: "string",
      description: this.declarations.descriptionOf(name),
      enum: (this.words.get(name) ?? []).map((word) => ({
        name: pascal(word.name),
        value: word.name,
        description: word.description,
      })),
    };
    return token;
  }

  /**
   * @param {ts.Type} type
   * @param {{ isOutput?: boolean }} options
   */
  namedType(type, options) {
    const token = `${MODULE}:${typeName(type.symbol.name)}`;
    if (!this.types[token]) {
      // Register the type before its properties, because a property may have the same type.
      this.types[token] = {};
      this.types[token] = {
        type: "object",
        description: this.declarations.descriptionOfType(type),
        ...this.objectOf(this.declarations.propertiesOf(type), options),
      };
    }
    return token;
  }

  /**
   * @param {readonly Property[]} properties
   * @param {{ isOutput?: boolean }} options
   */
  objectOf(properties, options = {}) {
    return {
      properties: Object.fromEntries(properties.map((each) => [each.name, this.propertySchema(each, options)])),
      required: properties.filter(({ isOptional }) => !isOptional).map(({ name }) => name),
    };
  }

  /**
   * Returns the schema of a property. Its default is part of the description: a default in the
   * schema would be set by programs, instead of being left to the service.
   * @param {Property} property
   * @param {{ isOutput?: boolean }} options
   * @returns {Schema}
   */
  propertySchema({ name, type, description, byDefault }, { isOutput = false } = {}) {
    const isWhole = /\b(whole|integer)\b/i.test(description);
    const open = isOutput ? [] : this.openWordsOf(type);
    const known = open.length === 0 ? "" : `\n\nKnown: ${open.map((word) => `\`${word}\``).join(", ")}.`;
    const ending = byDefault === undefined || isOutput ? "" : `\n\nDefault: ${byDefault}.`;
    const text = forEveryLanguage(`${description}${known}${ending}`);
    const secret = NESTED_SECRETS.includes(name) ? { secret: true } : {};
    return { ...this.typeOf(type, { isWhole, isOutput }), description: text, ...secret };
  }
}

/**
 * Returns a description without the parts that apply only to the dynamic form: other forms of a
 * value, and the property `endpointId`.
 * @param {string} text
 */
function forEveryLanguage(text) {
  return text
    .replace(/ ?(The client and a|The) dynamic provider also accepts? [^.]*\./g, "")
    .replaceAll("`getServerlessTemplateEnvOutput`", "`getServerlessTemplateEnv`")
    .replaceAll("`endpoint.endpointId`", "the `id` of a `ServerlessEndpoint`");
}

/**
 * Returns a name that does not collide with a generated name. In Go, it could collide with the name
 * of the resource or of a function.
 * @param {string} name
 */
function typeName(name) {
  if (name === "NetworkVolume") return "PodNetworkVolume";
  // Generated code adds `Args` itself.
  return name.replace(/^Get(\w+)Result$/, "$1").replace(/Args$/, "");
}

/**
 * Returns `true` if a union allows any string in addition to its literals.
 * @param {readonly ts.Type[]} members
 * @param {readonly string[]} literals
 */
function isOpen(members, literals) {
  return members.some(({ flags }) => flags & ts.TypeFlags.Intersection) && literals.length > 0;
}

/**
 * @param {readonly Property[]} words
 * @param {readonly string[]} literals
 */
function sameWords(words, literals) {
  return words.length === literals.length && words.every(({ name }) => literals.includes(name));
}

/**
 * Returns a name that every language accepts: `QueueDelay` for `QUEUE_DELAY`.
 * @param {string} word
 */
function pascal(word) {
  if (/^[A-Z]{2}$/.test(word)) return word;
  return word
    .toLowerCase()
    .split("_")
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join("");
}

module.exports = { forEveryLanguage, MODULE, Translator };
