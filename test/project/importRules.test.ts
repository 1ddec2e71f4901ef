import { existsSync } from "node:fs";
import path from "node:path";
import { importsIn, importsOf, REPOSITORY, sourceFiles, targetOf } from "../support/sources";

/** What the files of a folder may import: packages, and files or folders of the repository. */
const RULES: Record<string, { packages: string[]; files: string[] }> = {
  provider: { packages: ["@pulumi/pulumi"], files: ["provider/", "sdk/"] },
  sdk: { packages: ["undici", "graphql-request", "graphql", "zod", "fastest-levenshtein"], files: ["sdk/"] },
  emulator: { packages: ["graphql", "undici", "zod"], files: ["emulator/", "sdk/contract/"] },
  cli: { packages: ["@pulumi/pulumi", "commander", "semver"], files: ["cli/", "provider/", "sdk/", "emulator/"] },
};

/** The package of a specifier: `@pulumi/pulumi/runtime` is of `@pulumi/pulumi`. */
function packageOf(specifier: string): string {
  return specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
}

function isAllowed(folder: string, file: string, specifier: string): boolean {
  const { packages, files } = RULES[folder] ?? { packages: [], files: [] };
  const target = targetOf(file, specifier);
  if (target === undefined) return specifier.startsWith("node:") || packages.includes(packageOf(specifier));
  return files.some((allowed) => (allowed.endsWith("/") ? `${target}/`.startsWith(allowed) : target === allowed));
}

/** Whatever loading a file loads in its turn: files of the repository, and packages. */
function loadedBy(start: string): { files: Set<string>; packages: Set<string> } {
  const files = new Set([start]);
  const packages = new Set<string>();
  for (const file of files) {
    for (const { specifier, typeOnly } of importsOf(file)) {
      if (typeOnly) continue;
      const target = targetOf(file, specifier);
      if (target === undefined) packages.add(packageOf(specifier));
      else files.add(existsSync(path.join(REPOSITORY, `${target}.ts`)) ? `${target}.ts` : `${target}/index.ts`);
    }
  }
  return { files, packages };
}

describe("the way imports are found", () => {
  test.each<[string, string, boolean]>([
    ['import a from "x";', "x", false],
    ['import * as a from "x";', "x", false],
    ['import { a, type B } from "x";', "x", false],
    ['import "x";', "x", false],
    ['import type { A } from "x";', "x", true],
    ['import type * as a from "x";', "x", true],
    ['import { type A, type B } from "x";', "x", true],
    ['export * from "x";', "x", false],
    ['export { a } from "x";', "x", false],
    ['export type { A } from "x";', "x", true],
    ['export { type A } from "x";', "x", true],
    ['const a = () => require("x");', "x", false],
    ['const a = require.resolve("x");', "x", false],
    ['module.require("x");', "x", false],
    ['async function f() { return (await import("x")).a; }', "x", false],
    ['import a = require("x");', "x", false],
    ['type A = typeof import("x");', "x", true],
  ])("%s", (text, specifier, typeOnly) => {
    expect(importsIn(text)).toEqual([{ specifier, typeOnly }]);
  });

  test("comments and texts are no imports", () => {
    expect(importsIn('// import a from "x"\nconst text = `require("x")`;')).toEqual([]);
  });
});

describe.each(Object.keys(RULES))("%s/", (folder) => {
  test("imports only what it may, types included", () => {
    const files = sourceFiles(folder);
    expect(files.length).toBeGreaterThan(0);
    const broken = files.flatMap((file) =>
      importsOf(file)
        .filter(({ specifier }) => !isAllowed(folder, file, specifier))
        .map(({ specifier }) => `${file} imports ${specifier}`),
    );
    expect(broken).toEqual([]);
  });
});

test("what is imported from packages is a dependency that users get, and nothing else is one", () => {
  const { dependencies, peerDependencies } = require("../../package.json") as Record<string, Record<string, string>>;
  const imported = Object.keys(RULES).flatMap((folder) =>
    sourceFiles(folder).flatMap((file) => importsOf(file).map(({ specifier }) => specifier)),
  );
  const packages = imported.filter((each) => !each.startsWith(".") && !each.startsWith("node:")).map(packageOf);
  const declared = Object.keys({ ...dependencies, ...peerDependencies });
  expect([...new Set(packages)].sort()).toEqual(declared.sort());
});

describe("the handlers, and all that they load", () => {
  test("import no values from Pulumi", () => {
    const { files, packages } = loadedBy("provider/handlers.ts");
    expect([...files]).toEqual(
      expect.arrayContaining(["provider/endpoint/inputs.ts", "sdk/endpoints/endpoints.ts", "sdk/secret.ts"]),
    );
    expect([...packages].filter((name) => name.startsWith("@pulumi/"))).toEqual([]);
    // The same way of looking finds Pulumi where it is.
    expect([...loadedBy("provider/endpoint/serverlessEndpoint.ts").packages]).toContain("@pulumi/pulumi");
  });

  test("really load without Pulumi, and so does the client", async () => {
    jest.doMock("@pulumi/pulumi", () => {
      throw new Error("Pulumi was loaded");
    });
    await jest.isolateModulesAsync(async () => {
      const { v1 } = require("../../provider/handlers") as typeof import("../../provider/handlers");
      const inputs = { name: "llama", gpuIds: "AMPERE_24", templateId: "abc123" };
      expect(await v1.check?.({}, inputs)).toMatchObject({ inputs, failures: [] });
      expect(require("../../sdk")).toHaveProperty("createClient");
      expect(() => require("../../provider/endpoint/serverlessEndpoint")).toThrow("Pulumi was loaded");
    });
  });
});
