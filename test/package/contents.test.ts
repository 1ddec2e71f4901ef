import { readdirSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import path from "node:path";
import manifest from "../../package.json";
import { REPOSITORY } from "../support/sources";
import { run } from "./packed";

/** The files that are published, as paths from the package's root. */
let files: Set<string>;
/** Their size, in bytes. */
let unpackedSize: number;

const inRepository = (file: string) => path.join(REPOSITORY, file);
beforeAll(async () => {
  const { stdout } = await run("npm", ["pack", "--ignore-scripts", "--dry-run", "--json"], { cwd: REPOSITORY });
  const [packed] = JSON.parse(stdout);
  files = new Set(packed.files.map(({ path }: { path: string }) => path));
  unpackedSize = packed.unpackedSize;
}, 300_000);

describe("what is published", () => {
  test("the published package contains the bundled package, the emulator's page, and the files that users read first", () => {
    const known = /^dist\/(provider|sdk|emulator|cli|core)\/[\w/-]+\.(js|d\.ts)$/;
    const page = /^emulator\/page\/static\/\w+\.(html|css|mjs|svg)$/;
    const others = [...files].filter((file) => !known.test(file) && !page.test(file)).sort();
    expect(others).toEqual([
      "CHANGELOG.md",
      "LICENSE",
      "README.md",
      "SECURITY.md",
      "dist/cli/help.txt",
      "dist/core/licenses.txt",
      "dist/provider/handlers.licenses.txt",
      "emulator/Containerfile",
      "package.json",
    ]);
  });

  test("contains at most 150 files and 6 MB", () => {
    expect(files.size).toBeLessThanOrEqual(150);
    expect(unpackedSize).toBeLessThanOrEqual(6_000_000);
  });

  test("the published package contains every file of the emulator's page", () => {
    const sources = readdirSync(inRepository("emulator/page/static"));
    expect([...files]).toEqual(expect.arrayContaining(sources.map((file) => `emulator/page/static/${file}`)));
  });

  test("the published package contains no code in two bundles, except in the handlers", () => {
    const defining = [...files].filter((file) => {
      const isCode = file.endsWith(".js") && file !== "dist/provider/handlers.js";
      return isCode && readFileSync(inRepository(file), "utf8").includes("class _ServerlessGpuError extends");
    });
    expect(defining).toHaveLength(1);
  });

  test("the published package contains a client that needs no package, so that every bundler finds all of it", () => {
    const seen = new Set<string>();
    const visit = (file: string): string[] => {
      if (seen.has(file)) return [];
      seen.add(file);
      const code = readFileSync(inRepository(file), "utf8");
      const names = [...code.matchAll(/\brequire\("([^"]+)"\)/g)].map(([, name = ""]) => name);
      const parts = names.filter((name) => name.startsWith("."));
      const others = names.filter((name) => !parts.includes(name) && !isBuiltin(name));
      // A function in place of `require` hides packages from bundlers.
      const hidden = /\b__require\b(?!\(\) \{)/.test(code) ? [`${file}: __require`] : [];
      return [...others, ...hidden, ...parts.flatMap((name) => visit(path.join(path.dirname(file), name)))];
    };
    expect(visit("dist/sdk/index.js")).toEqual([]);
    expect(seen.size).toBeGreaterThan(5);
  });

  test("the published package contains every file that package.json names", () => {
    const named = JSON.stringify([
      manifest.main,
      manifest.types,
      manifest.exports,
      manifest.typesVersions,
      manifest.bin,
    ]);
    const paths = [...named.matchAll(/"\.\/([^"]+\.(?:ts|js|json))"/g)].map(([, file]) => file);
    expect(paths.length).toBeGreaterThan(10);
    expect(paths.filter((file) => !files.has(file ?? ""))).toEqual([]);
  });

  test("the published package lists types first in each entry point, and typesVersions for all entry points", () => {
    const entries = Object.entries(manifest.exports).filter(([, target]) => typeof target === "object");
    expect(entries.map(([, target]) => Object.keys(target)[0])).toEqual(entries.map(() => "types"));
    const subpaths = entries.map(([name]) => name.slice(2)).filter(Boolean);
    expect(Object.keys(manifest.typesVersions["*"])).toEqual(subpaths);
  });
});
