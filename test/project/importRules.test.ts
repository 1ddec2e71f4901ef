import path from "node:path";
import { circles, imported, importsOf, packageOf } from "../support/importGraph";
import { importsIn, sourceFiles, targetOf } from "../support/sources";

/**
 * The imports that the files of a folder may have: packages, and files or folders of the
 * repository.
 */
const RULES: Record<string, { packages: string[]; files: string[] }> = {
  provider: { packages: ["@pulumi/pulumi"], files: ["provider/", "sdk/"] },
  sdk: {
    packages: ["undici", "graphql-request", "graphql", "zod", "fastest-levenshtein", "eventsource-parser", "croner"],
    files: ["sdk/"],
  },
  emulator: { packages: ["graphql", "undici", "zod"], files: ["emulator/", "sdk/contract/"] },
  cli: {
    packages: ["@pulumi/pulumi", "commander", "pg", "prom-client", "semver", "yaml"],
    files: ["cli/", "provider/", "sdk/", "emulator/"],
  },
  // All of it is bundled into one file.
  plugin: {
    packages: ["@pulumi/pulumi", "@grpc/grpc-js", "google-protobuf"],
    files: ["plugin/", "provider/", "sdk/"],
  },
};

/** The folders of the package. The plugin is one of its own, without dependencies. */
const PACKAGED = Object.keys(RULES).filter((folder) => folder !== "plugin");

/**
 * The sub-folders of a folder, each with those that it may import. All may import the shared files
 * at the top of the folder, and those import `sharedImports` only. The other files at the top may
 * import everything, and no sub-folder imports them.
 */
interface Arrows {
  readonly shared: readonly string[];
  readonly sharedImports?: readonly string[];
  readonly folders: Readonly<Record<string, readonly string[]>>;
}

/** The folders of the client that both wings may import. */
const OF_WING = [
  "contract",
  "transport",
  "records",
  "containers",
  "endpoints",
  "templates",
  "registryAuths",
  "secrets",
  "volumes",
  "catalog",
  "diagnosis",
];

const ARROWS: Record<string, Arrows> = {
  sdk: {
    shared: ["errors"],
    folders: {
      errors: ["contract"],
      contract: [],
      connection: ["contract", "transport"],
      transport: ["contract"],
      records: ["contract", "transport"],
      containers: ["records"],
      endpoints: ["contract", "transport", "records", "containers"],
      templates: ["contract", "transport", "records", "containers", "endpoints"],
      registryAuths: ["contract", "transport", "records", "templates", "endpoints"],
      secrets: ["contract", "transport", "records", "containers", "templates", "endpoints"],
      volumes: ["contract", "transport", "records", "endpoints"],
      catalog: ["contract", "transport", "records", "endpoints"],
      logs: ["contract", "transport", "records"],
      diagnosis: ["contract", "transport", "records", "containers", "endpoints", "catalog", "logs"],
      journal: ["contract", "transport"],
      jobs: ["contract", "transport", "diagnosis"],
      batches: ["contract", "transport", "journal", "jobs"],
      openai: ["contract", "transport", "jobs"],
      loadBalancer: ["contract", "transport"],
      pods: ["contract", "transport"],
      // The wings: nothing imports them but client/apis.ts.
      graphql: OF_WING,
      restV2: [...OF_WING, "logs", "pods"],
      recording: ["contract", "jobs"],
      webhooks: ["contract", "transport", "jobs", "recording"],
      // Puts the others together. Only index.ts imports it.
      client: [
        ...OF_WING,
        "connection",
        "logs",
        "journal",
        "jobs",
        "batches",
        "openai",
        "loadBalancer",
        "pods",
        "graphql",
        "restV2",
        "recording",
        "webhooks",
      ],
    },
  },
  provider: {
    shared: ["engine"],
    folders: {
      engine: [],
      connection: [],
      machine: [],
      fields: ["connection", "machine"],
      ownership: ["connection", "machine"],
      adoption: ["connection", "machine", "fields", "ownership"],
      records: ["connection", "machine", "fields", "ownership", "adoption"],
      endpoint: ["connection", "machine", "fields", "ownership", "adoption", "records", "rollOut", "smokeTest"],
      rollOut: ["connection", "machine", "fields", "ownership", "records", "smokeTest"],
      kinds: ["connection", "machine", "fields", "adoption", "records"],
      smokeTest: ["connection"],
      functions: ["connection", "machine"],
      // What only the dynamic form needs. The handlers do not know it.
      dynamic: [
        "adoption",
        "connection",
        "endpoint",
        "fields",
        "functions",
        "kinds",
        "machine",
        "ownership",
        "records",
        "rollOut",
        "smokeTest",
      ],
    },
  },
  emulator: {
    shared: [],
    folders: {
      time: [],
      model: [],
      io: ["model"],
      records: ["io"],
      jobs: ["time", "model", "io"],
      openai: [],
      programs: ["time", "model", "io", "jobs"],
      workers: ["time", "model", "io", "jobs", "programs", "openai"],
      forecast: ["time", "model", "jobs", "programs", "workers"],
      loadBalancer: ["time", "model", "io", "jobs", "programs", "workers"],
      endpoints: ["time", "model", "io", "records", "jobs", "workers", "loadBalancer"],
      registryAuths: ["time", "model", "records"],
      secrets: ["time", "model", "records"],
      templates: ["time", "model", "records", "workers"],
      volumes: ["time", "model", "records"],
      pods: ["time", "model", "io", "workers", "endpoints", "volumes"],
      queue: ["time", "model", "io", "jobs", "openai", "endpoints"],
      catalog: ["model", "endpoints"],
      // The wings: only server/routes.ts imports them.
      graphql: [
        "model",
        "io",
        "records",
        "workers",
        "endpoints",
        "registryAuths",
        "secrets",
        "templates",
        "volumes",
        "pods",
        "catalog",
      ],
      restV2: [
        "time",
        "catalog",
        "model",
        "io",
        "records",
        "jobs",
        "workers",
        "endpoints",
        "registryAuths",
        "secrets",
        "templates",
        "volumes",
        "pods",
      ],
      server: [
        "time",
        "model",
        "io",
        "graphql",
        "records",
        "jobs",
        "programs",
        "workers",
        "endpoints",
        "registryAuths",
        "secrets",
        "templates",
        "volumes",
        "pods",
        "queue",
        "restV2",
        "loadBalancer",
        "catalog",
      ],
      page: ["time", "model", "io", "jobs", "workers", "endpoints", "server"],
      control: ["time", "model", "io", "records", "jobs", "workers", "endpoints", "pods", "queue", "server", "page"],
    },
  },
  cli: {
    shared: [
      "declareCommand",
      "didYouMean",
      "ownPackage",
      "parseInstant",
      "pulumiCommand",
      "readTextFile",
      "leftBehind",
      "shownValues",
      "stack",
      "tables",
      "terminal",
    ],
    folders: {
      connection: [],
      adopt: ["connection"],
      batch: ["connection", "emulator", "explain"],
      doctor: ["connection", "check"],
      emulator: [],
      explain: ["connection"],
      forecast: [],
      orphans: ["connection", "forecast", "check"],
      logs: ["connection", "explain", "emulator"],
      check: ["connection", "forecast"],
      history: ["connection", "explain"],
      metrics: ["connection", "explain", "forecast"],
      alerts: ["explain", "metrics"],
      rollback: ["connection", "history", "doctor"],
      schedule: ["check"],
      spend: ["connection"],
    },
  },
  plugin: {
    shared: [],
    folders: { wire: [], resources: ["wire"] },
  },
};

function isAllowed(folder: string, file: string, specifier: string): boolean {
  const { packages, files } = RULES[folder] ?? { packages: [], files: [] };
  const target = targetOf(file, specifier);
  if (target === undefined) return specifier.startsWith("node:") || packages.includes(packageOf(specifier));
  return files.some((allowed) => (allowed.endsWith("/") ? `${target}/`.startsWith(allowed) : target === allowed));
}

/** Returns the sub-folder of a file, or the name of a file at the top. */
function unitOf(file: string): string {
  return file.split("/")[1]?.replace(/\.ts$/, "") ?? "";
}

/**
 * Returns the arrows between the sub-folders and shared files of a folder that the table does not
 * allow.
 */
function forbiddenArrows(folder: string): string[] {
  const { shared, sharedImports = [], folders } = ARROWS[folder] as Arrows;
  const arrows = sourceFiles(folder).flatMap((file) => {
    const from = unitOf(file);
    const isAtTop = path.posix.dirname(file) === folder;
    if (isAtTop && !shared.includes(from)) return [];
    const allowed = [from, ...shared, ...(isAtTop ? sharedImports : (folders[from] ?? []))];
    const targets = imported(file).filter((target) => target.startsWith(`${folder}/`));
    const forbidden = targets.map(unitOf).filter((to) => !allowed.includes(to));
    return forbidden.map((to) => `${folder}/${from} -> ${folder}/${to}`);
  });
  return [...new Set(arrows)].sort();
}

describe("the parser of imports finds", () => {
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

  test("no imports in comments and strings", () => {
    expect(importsIn('// import a from "x"\nconst text = `require("x")`;')).toEqual([]);
  });
});

describe.each(Object.keys(RULES))("%s/", (folder) => {
  test("the folder contains no forbidden imports, including type imports", () => {
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

test.each(Object.entries(ARROWS))("the table names the sub-folders of %s/, in ARROWS", (folder, { folders }) => {
  const nested = sourceFiles(folder).filter((file) => path.posix.dirname(file) !== folder);
  expect([...new Set(nested.map(unitOf))].sort()).toEqual(Object.keys(folders).sort());
});

test("no subfolder imports from one above it in the order, including type imports", () => {
  expect(Object.keys(ARROWS).flatMap(forbiddenArrows).sort()).toEqual([]);
});

test("no files import each other in a circle, including type imports", () => {
  expect(circles(Object.keys(RULES).flatMap(sourceFiles))).toEqual([]);
});

/** The packages that `dist` contains, and whose types it does not use. Nobody installs them. */
const ONLY_BUNDLED = ["eventsource-parser", "fastest-levenshtein", "graphql-request"];

test("every imported package is declared as a dependency or only bundled, and every dependency is imported", () => {
  const { dependencies, peerDependencies, devDependencies } = require("../../package.json") as Record<
    string,
    Record<string, string>
  >;
  const imported = PACKAGED.flatMap((folder) =>
    sourceFiles(folder).flatMap((file) => importsOf(file).map(({ specifier }) => specifier)),
  );
  const packages = imported.filter((each) => !each.startsWith(".") && !each.startsWith("node:")).map(packageOf);
  const declared = Object.keys({ ...dependencies, ...peerDependencies });
  expect([...new Set(packages)].sort()).toEqual([...declared, ...ONLY_BUNDLED].sort());
  expect(Object.keys(devDependencies ?? {})).toEqual(expect.arrayContaining(ONLY_BUNDLED));
});
