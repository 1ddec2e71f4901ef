import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import path from "node:path";
import { markOwner, PREFIX, removeLeftovers } from "../../../../cli/check/rehearsal/leftovers";

/** The id of a process that has ended. */
const ended = () => spawnSync(process.execPath, ["-e", ""]).pid;

test("Only the folders of rehearsals that were killed on this computer are removed", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "leftovers-"));
  const made = (name: string, owner?: object) => {
    const each = path.join(folder, name);
    mkdirSync(path.join(each, "state"), { recursive: true });
    if (owner) writeFileSync(path.join(each, "owner.json"), JSON.stringify(owner));
    return each;
  };
  const killed = made(`${PREFIX}killed`, { host: hostname(), pid: ended() });
  const elsewhere = made(`${PREFIX}elsewhere`, { host: `${hostname()}-2`, pid: ended() });
  const unmarked = made(`${PREFIX}unmarked`);
  const other = made("other", { host: hostname(), pid: ended() });
  const running = made(`${PREFIX}running`);
  markOwner(running);
  removeLeftovers(folder);
  expect(existsSync(killed)).toBe(false);
  expect([elsewhere, unmarked, other, running].filter((each) => !existsSync(each))).toEqual([]);
});
