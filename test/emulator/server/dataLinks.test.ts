import {
  linkSync,
  lstatSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { startEmulator } from "../../../emulator";
import { createEndpoint } from "../../support/plainClient";

let folder: string;
let dataFile: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "emulator-links-"));
  dataFile = path.join(folder, "state.json");
});
afterEach(() => rmSync(folder, { recursive: true }));

test("a data file with a second name (a hard link) is refused, and both names stay unchanged", async () => {
  writeFileSync(dataFile, "{}");
  const second = path.join(folder, "second.json");
  linkSync(dataFile, second);
  await expect(startEmulator({ profile: "contract", dataFile: second })).rejects.toThrow(
    /second\.json has 2 names \(hard links\).*Use a copy/,
  );
  expect([statSync(second).nlink, readFileSync(dataFile, "utf8")]).toEqual([2, "{}"]);
});

test("a symbolic link to a data file remains a link, and shares the lock of the file", async () => {
  const link = path.join(folder, "link.json");
  symlinkSync("state.json", link);
  const first = await startEmulator({ profile: "contract", dataFile: link });
  await createEndpoint(first);
  await expect(startEmulator({ profile: "contract", dataFile })).rejects.toThrow(/is in use by another emulator/);
  const other = path.join(folder, "other");
  symlinkSync(folder, other);
  await expect(startEmulator({ profile: "contract", dataFile: path.join(other, "link.json") })).rejects.toThrow(
    "is in use",
  );
  await first.stop();
  expect([readlinkSync(link), lstatSync(dataFile).isFile()]).toEqual(["state.json", true]);
  await using second = await startEmulator({ profile: "contract", dataFile });
  expect(second.endpoints.list()).toHaveLength(1);
});
