import { execFile } from "node:child_process";
import { promisify } from "node:util";

test("without one of the two APIs, everything compiles but the file that joins them", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [require.resolve("../../tools/wings")]);
  expect(stdout).toBe("sdk/graphql: sdk/apis.ts\nsdk/restV2: sdk/apis.ts\n");
}, 300_000);
