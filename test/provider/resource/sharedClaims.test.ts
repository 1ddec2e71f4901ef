import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

const MODULE = path.resolve(__dirname, "../../../dist/provider/resource/sharedClaims.js");
const folder = mkdtempSync(path.join(tmpdir(), "claims-"));
const TMPDIR = path.join(folder, "temp");
mkdirSync(TMPDIR);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Claims in a process of its own, as a provider does, which has the engine's host and port as its last argument. */
function claim(env: Record<string, string>) {
  const script = `require(${JSON.stringify(MODULE)}).shareClaim("+", "abc", "owner");`;
  return spawnSync(process.execPath, ["-e", script, "127.0.0.1:4711"], { env, encoding: "utf8", timeout: 30_000 });
}

test("a claim goes to the user's cache", () => {
  const cache = path.join(folder, "cache");
  expect(claim({ XDG_CACHE_HOME: cache, TMPDIR })).toMatchObject({ status: 0, stderr: "" });
  expect(readdirSync(path.join(cache, "pulumi-serverless-gpu/claims"))).toHaveLength(1);
  expect(readdirSync(TMPDIR)).toEqual([]);
});

test.each(["/dev/null/cache", "/proc/none/cache"])("it goes to the temporary folder if %s cannot be made", (cache) => {
  expect(claim({ XDG_CACHE_HOME: cache, TMPDIR })).toMatchObject({ status: 0, stderr: "" });
  const [name = ""] = readdirSync(TMPDIR);
  expect(readdirSync(path.join(TMPDIR, name))).toHaveLength(1);
});

test("a claim that can be told nowhere is an error, because another process would delete the object", () => {
  const { status, stderr } = claim({ XDG_CACHE_HOME: "/dev/null/cache", TMPDIR: "/dev/null/temp" });
  expect(status).toBe(1);
  expect(stderr).toMatch(/can be written.*Set XDG_CACHE_HOME to a folder/);
});
