import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";

const REPOSITORY = path.resolve(__dirname, "../..");

test("the demo shows every step and leaves no endpoint and no file", () => {
  const temporary = mkdtempSync(path.join(os.tmpdir(), "demo-test-"));
  try {
    const { status, stdout, stderr } = spawnSync(process.execPath, ["tools/demo/main.js"], {
      cwd: REPOSITORY,
      env: { PATH: process.env.PATH, HOME: process.env.HOME, TMPDIR: temporary },
      encoding: "utf8",
    });
    expect(stderr.replace(/^warning: workersMin is 1: .*$/gm, "")).not.toMatch(/warning/i);
    expect({ status, end: stdout.trim().split("\n").at(-1) }).toEqual({
      status: 0,
      end: expect.stringMatching(/^Endpoints left at the service: 0\. The demo took \d+ s\.$/),
    });
    expect(stdout).toMatch(/~ gpuIds +: "AMPERE_24" => "ADA_24,AMPERE_24"/);
    expect(stdout).toMatch(/~ workersMax: 3 => 1/);
    expect(stdout).toMatch(/saveEndpoint \S+ name: "chat-.*workersMax: 0, workersMin: 0[\s\S]*deleteEndpoint/);
    expect(readdirSync(temporary)).toEqual([]);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
});
