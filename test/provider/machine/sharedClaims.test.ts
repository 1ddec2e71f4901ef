import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

const MODULE = path.resolve(__dirname, "../../../build/provider/machine/sharedClaims.js");
const folder = mkdtempSync(path.join(tmpdir(), "claims-"));
const TMPDIR = path.join(folder, "temp");
mkdirSync(TMPDIR);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const CLAIM = 'claims.shareClaim("abc", "owner", { standing: "held", reason: "" });';
/** Prints what another process of the deployment sees while the first one is alive. */
const SHOW = `
const script = "console.log(...require(" + JSON.stringify(module) + ").claimsOfOtherProcesses('abc').keys())";
const { stdout, stderr } = require("node:child_process").spawnSync(process.execPath, ["-e", script, "127.0.0.1:4711"]);
console.log(String(stdout), String(stderr));
`;

/**
 * Runs code in a process of its own, as a provider, which has the engine's host and port as its
 * last argument.
 */
function run(code: string, env: Record<string, string>) {
  const script = `const module = ${JSON.stringify(MODULE)}; const claims = require(module); ${code}`;
  return spawnSync(process.execPath, ["-e", script, "127.0.0.1:4711"], { env, encoding: "utf8", timeout: 30_000 });
}

const claim = (env: Record<string, string>) => run(CLAIM, env);

/** Makes a folder for temporary files, and returns it with the name of the claims' folder in it. */
function temporary(name: string): readonly [string, string] {
  const TMP = path.join(folder, name);
  mkdirSync(TMP);
  return [TMP, path.join(TMP, `pulumi-serverless-gpu-claims-${process.getuid?.() ?? "user"}`)];
}

test("a claim is stored in the user's cache", () => {
  const cache = path.join(folder, "cache");
  expect(claim({ XDG_CACHE_HOME: cache, TMPDIR })).toMatchObject({ status: 0, stderr: "" });
  expect(readdirSync(path.join(cache, "pulumi-serverless-gpu/claims"))).toHaveLength(1);
  expect(readdirSync(TMPDIR)).toEqual([]);
});

test.each([
  "/dev/null/cache",
  "/proc/none/cache",
])("a claim is stored in the temporary folder if %s cannot be created", (cache) => {
  expect(claim({ XDG_CACHE_HOME: cache, TMPDIR })).toMatchObject({ status: 0, stderr: "" });
  const [name = ""] = readdirSync(TMPDIR);
  expect(readdirSync(path.join(TMPDIR, name))).toHaveLength(1);
});

test("a claim that cannot be shared is an error, because another process would delete the record", () => {
  const { status, stderr } = claim({ XDG_CACHE_HOME: "/dev/null/cache", TMPDIR: "/dev/null/temp" });
  expect(status).toBe(1);
  expect(stderr).toMatch(/or others can also write there\. .*Set XDG_CACHE_HOME to an existing folder/);
});

test("a claim that could not be shared is shared again the next time it is made", () => {
  const owners = JSON.stringify(path.resolve(MODULE, "../../ownership/owners.js"));
  const again = `
    for (const _ of [1, 2]) {
      require(${owners}).noteChecked({}, false);
      try { require(${owners}).claimCompared("endpoint", "abc", "owner"); } catch (error) { console.log(error.name); }
    }`;
  const { stdout } = run(again, { XDG_CACHE_HOME: "/dev/null/cache", TMPDIR: "/dev/null/temp" });
  expect(stdout).toBe("ConfigurationError\nConfigurationError\n");
});

const NO_CACHE = { XDG_CACHE_HOME: "/dev/null/cache" };

test("a link that someone else puts in place of the temporary folder is not followed, and the files behind it stay", () => {
  const [TMP, claims] = temporary("linked");
  const documents = path.join(folder, "documents");
  mkdirSync(documents);
  writeFileSync(path.join(documents, "thesis.txt"), "years of work");
  symlinkSync(documents, claims);
  const { status, stderr } = claim({ ...NO_CACHE, TMPDIR: TMP });
  expect(readdirSync(documents)).toEqual(["thesis.txt"]);
  expect([status, stderr]).toEqual([1, expect.stringMatching(/or others can also write there/)]);
});

test("a world-writable temporary folder is neither used nor trusted", () => {
  const [TMP, claims] = temporary("open");
  const open = `require("node:fs").chmodSync(${JSON.stringify(claims)}, 0o777);`;
  expect(run(CLAIM + SHOW, { ...NO_CACHE, TMPDIR: TMP }).stdout.trim()).toBe("owner");
  expect(run(CLAIM + open + SHOW, { ...NO_CACHE, TMPDIR: TMP }).stdout.trim()).toBe("");
  expect(claim({ ...NO_CACHE, TMPDIR: TMP })).toMatchObject({ status: 1 });
});

test("a claim is kept for a day if its process may be running on another machine that shares the folder", () => {
  const [TMP, claims] = temporary("shared");
  mkdirSync(claims, { mode: 0o700 });
  const [fresh, old, foreign] = ["127.0.0.1-1.other.99999999", "127.0.0.1-2.other.99999999", "notes.txt"];
  for (const file of [fresh, old, foreign]) writeFileSync(path.join(claims, file), "held abc owner\n");
  const past = new Date(Date.now() - 25 * 60 * 60 * 1000);
  for (const file of [old, foreign]) utimesSync(path.join(claims, file), past, past);
  expect(claim({ ...NO_CACHE, TMPDIR: TMP })).toMatchObject({ status: 0, stderr: "" });
  expect([fresh, old, foreign].map((file) => existsSync(path.join(claims, file)))).toEqual([true, false, true]);
});

test("a claim is shared even if a full disk has truncated the line before it", () => {
  const [TMP, claims] = temporary("full");
  const cut = `const fs = require("node:fs"); process.chdir(${JSON.stringify(claims)}); fs.appendFileSync(fs.readdirSync(".")[0], "held xyz ot");`;
  const { stdout } = run(`claims.shareClaim("def", "owner", { standing: "held", reason: "" });${cut}${CLAIM}${SHOW}`, {
    ...NO_CACHE,
    TMPDIR: TMP,
  });
  expect(stdout.trim()).toBe("owner");
});
