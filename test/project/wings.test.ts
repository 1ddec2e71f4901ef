import { execFile } from "node:child_process";
import { promisify } from "node:util";

test("the client and the emulator compile without either API, except for the file that joins the two", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [require.resolve("../../tools/wings")]);
  expect(stdout.trim().split("\n")).toEqual([
    "sdk/graphql: sdk/client/apis.ts",
    "sdk/restV2: sdk/client/apis.ts",
    "emulator/graphql: emulator/server/routes.ts",
    "emulator/restV2: emulator/server/routes.ts",
  ]);
}, 300_000);
