import { run } from "../../command";

test.each([
  ["--max-p95", "20s"],
  ["--max-cost", "50/month"],
  ["--max-lost", "0"],
  ["--max-during", "p95=60s"],
  ["--require-calibration"],
])("a limit of the load is refused without a load: %s", async (...limit) => {
  const { code, stdout, stderr } = await run("check", "--stack", "production", ...limit);
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toContain(`${limit[0]} needs --load`);
});
