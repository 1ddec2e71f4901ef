import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";

const REPOSITORY = path.resolve(__dirname, "../..");

test("the demo uses saveEndpoint and deleteEndpoint, moves its stack to REST v2 and back, and leaves no endpoints or files behind", () => {
  const temporary = mkdtempSync(path.join(os.tmpdir(), "demo-test-"));
  try {
    const { status, stdout, stderr } = spawnSync(process.execPath, ["tools/demo/main.js"], {
      cwd: REPOSITORY,
      // Whatever API the user's shell chooses, the demo uses the package's default.
      env: { PATH: process.env.PATH, HOME: process.env.HOME, TMPDIR: temporary, SERVERLESS_GPU_API: "v2" },
      encoding: "utf8",
    });
    expect(stderr).toBe("");
    expect(status).toBe(0);
    expect(stdout).toMatch(/^Endpoints left at the service: 0\. The demo took \d+ s\.$/m);
    const lines = stdout.trim().split("\n");
    expect(lines.length).toBeLessThan(34);
    expect(lines.filter((line) => /^\d\. .*, \d+\.\d s$/.test(line))).toHaveLength(8);
    expect(stdout).toMatch(/1\. Create an endpoint.*\n +\+ chat-\w+ .*\n +requests: .*1 × saveEndpoint/);
    expect(stdout).toMatch(/~ gpuIds: "AMPERE_24" → "ADA_24,AMPERE_24"/);
    expect(stdout).toMatch(/~ workersMax: 3 → 1/);
    expect(stdout).toMatch(/~ chat-\w+ .*workersMax: 1 → 3/);
    // The same stack over REST v2 and back: only reads, no line with a change.
    expect(stdout).toMatch(
      /6\. Move .*SERVERLESS_GPU_API=v2 pulumi up --refresh --expect-no-changes, .*\n +requests: (\d × list\w*,? ?)+\n7\. And back .*\n +requests: (\d × list,? ?)+\n8\./,
    );
    expect(stdout).toMatch(/8\. Destroy.*\n +- chat-\w+\n +requests: .*1 × deleteEndpoint/);
    // No colors in a pipe.
    expect(stdout).not.toContain("\u001b");
    expect(readdirSync(temporary)).toEqual([]);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
});
