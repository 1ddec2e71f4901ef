import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import manifest from "../../package.json";
import { REPOSITORY } from "../support/sources";
import { run } from "./packed";

/** The files that are published, as paths from the package's root. */
let files: Set<string>;

const inRepository = (file: string) => path.join(REPOSITORY, file);
const sourcesOf = (map: string): string[] =>
  JSON.parse(readFileSync(inRepository(map), "utf8")).sources.map((source: string) =>
    path.posix.join(path.posix.dirname(map), source),
  );

beforeAll(async () => {
  const { stdout } = await run("npm", ["pack", "--ignore-scripts", "--dry-run", "--json"], { cwd: REPOSITORY });
  files = new Set(JSON.parse(stdout)[0].files.map(({ path }: { path: string }) => path));
}, 300_000);

describe("what is published", () => {
  test("is the built package, the sources that its maps point to, and what users read first", () => {
    const known = /^(dist\/)?(provider|sdk|emulator|cli)\/[\w/]+\.(ts|js|js\.map|d\.ts|d\.ts\.map)$/;
    const page = /^dist\/emulator\/page\/static\/\w+\.(html|css|mjs|svg)$/;
    const others = [...files].filter((file) => !known.test(file) && !page.test(file)).sort();
    expect(others).toEqual([
      "CHANGELOG.md",
      "LICENSE",
      "README.md",
      "SECURITY.md",
      "dist/provider/handlers.licenses.txt",
      "emulator/Containerfile",
      "package.json",
    ]);
  });

  test("contains every file of the emulator's page, once", () => {
    const sources = readdirSync(inRepository("emulator/page/static"));
    const published = [...files].filter((file) => file.includes("page/static/")).sort();
    expect(published).toEqual(sources.map((file) => `dist/emulator/page/static/${file}`).sort());
    expect(published).toContain("dist/emulator/page/static/index.html");
  });

  test("contains nothing that was built from a deleted source", () => {
    const built = [...files].filter((file) => file.startsWith("dist/") && file.endsWith(".js"));
    const sources = built.map((file) => file.replace(/^dist\/(.*)\.js$/, "$1.ts"));
    expect(sources.filter((source) => !existsSync(inRepository(source)))).toEqual([]);
  });

  test("contains every source that a map names", () => {
    const maps = [...files].filter((file) => file.endsWith(".map"));
    expect(maps.length).toBeGreaterThan(100);
    expect(maps.flatMap(sourcesOf).filter((source) => !files.has(source))).toEqual([]);
  });

  test("contains every file that package.json names", () => {
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

  test("has types first in each entry point, and typesVersions for all of them", () => {
    const entries = Object.entries(manifest.exports).filter(([, target]) => typeof target === "object");
    expect(entries.map(([, target]) => Object.keys(target)[0])).toEqual(entries.map(() => "types"));
    const subpaths = entries.map(([name]) => name.slice(2)).filter(Boolean);
    expect(Object.keys(manifest.typesVersions["*"])).toEqual(subpaths);
  });
});

test('an editor\'s "go to definition" leads from the built types to the TypeScript source', async () => {
  const text = 'import { createClient } from "../../dist/sdk/index.js";\ncreateClient;\n';
  const file = inRepository("test/package/definition.ts");
  const [definition] = await definitionsOf(file, text, { line: 2, offset: 1 });
  expect(definition?.file).toBe(inRepository("sdk/client.ts").replaceAll(path.sep, "/"));
  const line = readFileSync(inRepository("sdk/client.ts"), "utf8").split("\n")[(definition?.start.line ?? 0) - 1];
  expect(line).toContain("function createClient");
}, 300_000);

interface Definition {
  readonly file: string;
  readonly start: { readonly line: number };
}

/** Queries TypeScript's own language server, as an editor does. The file itself need not exist. */
async function definitionsOf(
  file: string,
  fileContent: string,
  position: { line: number; offset: number },
): Promise<Definition[]> {
  const server = spawn(process.execPath, [require.resolve("typescript/lib/tsserver.js")], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ask = (seq: number, command: string, args: object) =>
    server.stdin.write(`${JSON.stringify({ seq, type: "request", command, arguments: args })}\n`);
  ask(1, "open", { file, fileContent });
  ask(2, "definition", { file, ...position });
  try {
    for await (const line of createInterface(server.stdout)) {
      const message = line.startsWith("{") ? JSON.parse(line) : {};
      if (message.request_seq === 2) return message.body;
    }
    throw new Error("the language server ended without a response");
  } finally {
    server.kill();
  }
}
