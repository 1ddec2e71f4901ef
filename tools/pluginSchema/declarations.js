// Reads the declarations of this package with the TypeScript compiler: the properties of its types,
// and their doc comments.
const path = require("node:path");
const ts = require("typescript");

const ROOT = path.join(__dirname, "../..");
const ENTRY = path.join(ROOT, "provider/index.ts");

/**
 * @typedef {object} Property
 * @property {string} name
 * @property {ts.Type} type
 * @property {boolean} isOptional
 * @property {string} description its doc comment, without tags
 * @property {string | undefined} byDefault its tag `@default`
 */

/** The declarations that the package exports. */
class Declarations {
  constructor() {
    const { config } = ts.readConfigFile(path.join(ROOT, "tsconfig.json"), ts.sys.readFile);
    const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, ROOT);
    const program = ts.createProgram([ENTRY], { ...options, types: ["node"] });
    const checker = program.getTypeChecker();
    const entry = program.getSourceFile(ENTRY);
    const module = entry && checker.getSymbolAtLocation(entry);
    if (!entry || !module) throw new Error(`${ENTRY} exports nothing`);
    this.checker = checker;
    this.exported = new Map(
      checker.getExportsOfModule(module).map((symbol) => [symbol.name, resolved(checker, symbol)]),
    );
  }

  /** @param {string} name */
  symbolOf(name) {
    const symbol = this.exported.get(name);
    if (!symbol) throw new Error(`provider/index.ts does not export ${name}`);
    return symbol;
  }

  /** @param {ts.Symbol} symbol */
  descriptionOfSymbol(symbol) {
    // An enum is declared twice, and its type describes a single value.
    const type = symbol.declarations?.find(ts.isTypeAliasDeclaration);
    const [comment] = type ? ts.getJSDocCommentsAndTags(type).filter(ts.isJSDoc) : [];
    const text = comment
      ? (ts.getTextOfJSDocComment(comment.comment) ?? "")
      : ts.displayPartsToString(symbol.getDocumentationComment(this.checker));
    return text.replace(/\s*\n(?!\n)\s*/g, (gap) => (gap.includes("\n\n") ? "\n\n" : " ")).trim();
  }

  /**
   * Returns the properties of a type. A union has the properties of all its members.
   * @param {ts.Type} type
   * @returns {Property[]}
   */
  propertiesOf(type) {
    const members = type.isUnion() ? type.types : [type];
    const symbols = members
      .flatMap((member) => this.checker.getPropertiesOfType(member))
      .filter((each) => !this.isInternal(each));
    const names = [...new Set(symbols.map(({ name }) => name))];
    return names.map((name) => {
      const same = symbols.filter((each) => each.name === name);
      // If the members of a union declare both `readonly name?: undefined` and `readonly name:
      // string`, the second declaration contains the documentation.
      const symbol =
        same.find((each) => !(this.checker.getTypeOfSymbol(each).flags & ts.TypeFlags.Undefined)) ?? same[0];
      if (!symbol) throw new Error(`${name} has no declaration`);
      const isEverywhere = same.length === members.length;
      return {
        name,
        type: this.checker.getTypeOfSymbol(symbol),
        isOptional: !isEverywhere || same.some((each) => (each.flags & ts.SymbolFlags.Optional) !== 0),
        description: this.descriptionOfSymbol(symbol),
        byDefault: this.defaultOf(symbol),
      };
    });
  }

  /** @param {ts.Symbol} symbol */
  isInternal(symbol) {
    return symbol.getJsDocTags(this.checker).some(({ name }) => name === "internal");
  }

  /** @param {ts.Symbol} symbol */
  defaultOf(symbol) {
    const tag = symbol.getJsDocTags(this.checker).find(({ name }) => name === "default");
    return tag && ts.displayPartsToString(tag.text).replace(/\s+/g, " ").trim();
  }

  /** @param {string} name */
  typeNamed(name) {
    return this.checker.getDeclaredTypeOfSymbol(this.symbolOf(name));
  }

  /** @param {string} name */
  descriptionOf(name) {
    return this.descriptionOfSymbol(this.symbolOf(name));
  }

  /** @param {ts.Type} type */
  descriptionOfType(type) {
    return type.symbol ? this.descriptionOfSymbol(type.symbol) : "";
  }

  /**
   * Returns the values of an enum, such as `GpuTier`, with the doc comment of each.
   * @param {string} name
   * @returns {Property[]}
   */
  wordsOf(name) {
    const symbol = this.symbolOf(name);
    if (!symbol.valueDeclaration) throw new Error(`${name} has no values`);
    return this.propertiesOf(this.checker.getTypeOfSymbolAtLocation(symbol, symbol.valueDeclaration));
  }

  /**
   * Returns the description of a data source, the type of its arguments and that of its result,
   * without its promise. A data source of a secret exists only in the output form.
   * @param {string} name
   */
  functionNamed(name) {
    const symbol = this.symbolOf(this.exported.has(name) ? name : `${name}Output`);
    const [signature] = this.checker.getTypeOfSymbol(symbol).getCallSignatures();
    const result = signature && this.checker.getAwaitedType(signature.getReturnType());
    if (!result) throw new Error(`${name} is no function`);
    const [parameter] = signature.getParameters();
    const type = parameter && this.checker.getTypeOfSymbol(parameter);
    const args = type?.aliasSymbol?.name === "InputsOf" ? type.aliasTypeArguments?.[0] : type;
    return { description: this.descriptionOfSymbol(symbol), args, result };
  }
}

/**
 * @param {ts.TypeChecker} checker
 * @param {ts.Symbol} symbol
 */
function resolved(checker, symbol) {
  return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
}

module.exports = { Declarations };
