// Shows that either API can be deleted: type-checks the sources of the package without one folder.
// `node tools/wings.js` prints the files that do not compile without each.
const path = require("node:path");
const ts = require("typescript");

const ROOT = path.resolve(__dirname, "..");

/** The folders that contain all code of one API. */
const WINGS = ["sdk/graphql", "sdk/restV2", "emulator/graphql", "emulator/restV2"];

/**
 * Returns a function that lists the files that do not compile without a folder, as paths in the
 * repository.
 */
function createCheck() {
  const { config } = ts.readConfigFile(path.join(ROOT, "tsconfig.json"), ts.sys.readFile);
  const include = ["sdk", "provider", "emulator", "cli", "plugin"];
  const { options, fileNames } = ts.parseJsonConfigFileContent({ ...config, include }, ts.sys, ROOT);
  // What a deletion leaves unused is no error.
  const checked = { ...options, incremental: false, noUnusedLocals: false, tsBuildInfoFile: undefined };
  const base = ts.createIncrementalCompilerHost(checked);
  /** Each file is read and parsed once. @type {Map<string, ts.SourceFile | undefined>} */
  const parsed = new Map();
  /**
   * @param {string} [folder] the folder to leave out
   * @param {import("typescript").SemanticDiagnosticsBuilderProgram} [before] a checked program,
   * whose results are used for the files that the folder does not affect
   */
  const programWithout = (folder, before) => {
    /** @param {string} file */
    const isThere = (file) => folder === undefined || !file.startsWith(`${path.join(ROOT, folder)}/`);
    /** @type {import("typescript").CompilerHost} */
    const host = {
      ...base,
      fileExists: (file) => isThere(file) && base.fileExists(file),
      getSourceFile(file, version) {
        if (!isThere(file)) return undefined;
        if (!parsed.has(file)) parsed.set(file, base.getSourceFile(file, version));
        return parsed.get(file);
      },
    };
    return ts.createSemanticDiagnosticsBuilderProgram(fileNames.filter(isThere), checked, host, before);
  };
  const whole = programWithout();
  whole.getSemanticDiagnostics();
  /** @param {string} folder */
  return (folder) => {
    const program = programWithout(folder, whole);
    const found = [...program.getSyntacticDiagnostics(), ...program.getSemanticDiagnostics()];
    return [...new Set(found.flatMap(({ file }) => (file ? [path.relative(ROOT, file.fileName)] : [])))].sort();
  };
}

const check = createCheck();
for (const wing of WINGS) console.log(`${wing}: ${check(wing).join(", ") || "nothing"}`);
