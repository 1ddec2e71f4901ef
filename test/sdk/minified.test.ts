import { buildSync } from "esbuild";

test("errors keep their names in a minified bundle", () => {
  const { outputFiles } = buildSync({
    entryPoints: ["sdk/index.ts"],
    bundle: true,
    minify: true,
    platform: "node",
    packages: "external",
    write: false,
  });
  const bundle: { exports: Record<string, unknown> } = { exports: {} };
  new Function("module", "exports", "require", outputFiles[0]?.text ?? "")(bundle, bundle.exports, require);
  const base = bundle.exports.ServerlessGpuError as typeof Error;
  const classes = Object.entries(bundle.exports).filter(
    (entry): entry is [string, typeof Error] => typeof entry[1] === "function" && entry[1].prototype instanceof base,
  );
  expect(classes.length).toBeGreaterThan(30);
  // The constructors take different arguments, and the base class sets the name.
  const names = classes.map(([, each]) => (Reflect.construct(base, ["what happened"], each) as Error).name);
  expect(names).toEqual(classes.map(([name]) => name));
});
