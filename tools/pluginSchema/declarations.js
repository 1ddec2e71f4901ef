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

/** Returns the functions that read what the package exports. */
function readDeclarations() {
  const { config } = ts.readConfigFile(path.join(ROOT, "tsconfig.json"), ts.sys.readFile);
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, ROOT);
  const program = ts.createProgram([ENTRY], { ...options, types: ["node"] });
  const checker = program.getTypeChecker();
  const entry = program.getSourceFile(ENTRY);
  const module = entry && checker.getSymbolAtLocation(entry);
  if (!entry || !module) throw new Error(`${ENTRY} exports nothing`);
  const exported = new Map(checker.getExportsOfModule(module).map((symbol) => [symbol.name, resolved(symbol)]));

  /** @param {ts.Symbol} symbol */
  function resolved(symbol) {
    return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  }

  /** @param {string} name */
  function symbolOf(name) {
    const symbol = exported.get(name);
    if (!symbol) throw new Error(`provider/index.ts does not export ${name}`);
    return symbol;
  }

  /** @param {ts.Symbol} symbol */
  function descriptionOf(symbol) {
    // An enum is declared twice, and its type describes a single value.
    const type = symbol.declarations?.find(ts.isTypeAliasDeclaration);
    const [comment] = type ? ts.getJSDocCommentsAndTags(type).filter(ts.isJSDoc) : [];
    const text = comment
      ? (ts.getTextOfJSDocComment(comment.comment) ?? "")
      : ts.displayPartsToString(symbol.getDocumentationComment(checker));
    return text.replace(/\s*\n(?!\n)\s*/g, (gap) => (gap.includes("\n\n") ? "\n\n" : " ")).trim();
  }

  /**
   * Returns the properties of a type. Those of a union are the properties of all its members.
   * @param {ts.Type} type
   * @returns {Property[]}
   */
  function propertiesOf(type) {
    const members = type.isUnion() ? type.types : [type];
    const symbols = members
      .flatMap((member) => checker.getPropertiesOfType(member))
      .filter((each) => !isInternal(each));
    const names = [...new Set(symbols.map(({ name }) => name))];
    return names.map((name) => {
      const same = symbols.filter((each) => each.name === name);
      // Of `readonly name?: undefined` and `readonly name: string`, the second one is documented as
      // the property.
      const symbol = same.find((each) => !(checker.getTypeOfSymbol(each).flags & ts.TypeFlags.Undefined)) ?? same[0];
      if (!symbol) throw new Error(`${name} has no declaration`);
      const isEverywhere = same.length === members.length;
      return {
        name,
        type: checker.getTypeOfSymbol(symbol),
        isOptional: !isEverywhere || same.some((each) => (each.flags & ts.SymbolFlags.Optional) !== 0),
        description: descriptionOf(symbol),
        byDefault: defaultOf(symbol),
      };
    });
  }

  /** @param {ts.Symbol} symbol */
  function isInternal(symbol) {
    return symbol.getJsDocTags(checker).some(({ name }) => name === "internal");
  }

  /** @param {ts.Symbol} symbol */
  function defaultOf(symbol) {
    const tag = symbol.getJsDocTags(checker).find(({ name }) => name === "default");
    return tag && ts.displayPartsToString(tag.text).replace(/\s+/g, " ").trim();
  }

  return {
    checker,
    propertiesOf,
    /** @param {string} name */
    typeNamed: (name) => checker.getDeclaredTypeOfSymbol(symbolOf(name)),
    /** @param {string} name */
    descriptionOf: (name) => descriptionOf(symbolOf(name)),
    /** @param {ts.Type} type */
    descriptionOfType: (type) => (type.symbol ? descriptionOf(type.symbol) : ""),
    /**
     * Returns the values of an enum, such as `GpuTier`, with the doc comment of each.
     * @param {string} name
     * @returns {Property[]}
     */
    wordsOf(name) {
      const symbol = symbolOf(name);
      if (!symbol.valueDeclaration) throw new Error(`${name} has no values`);
      return propertiesOf(checker.getTypeOfSymbolAtLocation(symbol, symbol.valueDeclaration));
    },
    /**
     * Returns the description of a data source, the type of its arguments and that of its result, without its promise. A
     * secret one exists only as an output.
     * @param {string} name
     */
    functionNamed(name) {
      const symbol = symbolOf(exported.has(name) ? name : `${name}Output`);
      const [signature] = checker.getTypeOfSymbol(symbol).getCallSignatures();
      const result = signature && checker.getAwaitedType(signature.getReturnType());
      if (!result) throw new Error(`${name} is no function`);
      const [parameter] = signature.getParameters();
      const type = parameter && checker.getTypeOfSymbol(parameter);
      const args = type?.aliasSymbol?.name === "InputsOf" ? type.aliasTypeArguments?.[0] : type;
      return { description: descriptionOf(symbol), args, result };
    },
  };
}

/** @typedef {ReturnType<typeof readDeclarations>} Declarations */

module.exports = { readDeclarations };
