import { readFile } from "node:fs/promises";
import path from "node:path";
import { type Emulator, startEmulator } from "../../emulator";
import { createStack, type PulumiStack } from "./harness";

// Follows what `doctor` advises, to the letter, and runs it again.

const COMMAND = path.resolve(__dirname, "../../dist/cli/main.js");
const KEY = "canary-key-90ad";
const VARIABLE = "SERVERLESS_GPU_API_KEY";

type Env = Readonly<Record<string, string>>;
interface Check {
  readonly status: string;
  readonly found: string;
  readonly fix?: string;
}

let emulator: Emulator;
let stack: PulumiStack;
/** The URLs only. */
let urls: Env;
beforeAll(async () => {
  emulator = await startEmulator({ profile: "observed", apiKey: KEY });
  const { [VARIABLE]: _, SERVERLESS_GPU_SERVICE: __, ...others } = emulator.env;
  urls = others;
  stack = await createStack();
  await stack.writeFile("package.json", JSON.stringify({ dependencies: { "pulumi-serverless-gpu": "*" } }));
});
afterAll(() => emulator.stop());

async function doctor(env: Env = { ...urls, [VARIABLE]: KEY }): Promise<Readonly<Record<string, Check>>> {
  const { stdout } = await stack.exec(process.execPath, [COMMAND, "doctor", "--json"], { env });
  expect(stdout).not.toContain(KEY);
  const { checks } = JSON.parse(stdout) as { readonly checks: readonly (Check & { readonly check: string })[] };
  return Object.fromEntries(checks.map(({ check, ...finding }) => [check, finding]));
}

/** Runs the command that an advice prints after a phrase, and returns its output. */
async function follow(fix: string | undefined, after: string, append = "", env: Env = {}): Promise<string> {
  const [, rest = ""] = (fix ?? "").split(after);
  const line = `${rest.split("\n")[0]}${append}`;
  const { exitCode, output } = await stack.exec("sh", ["-c", line], { env });
  expect([line, exitCode, output]).toEqual([line, 0, expect.any(String)]);
  return output;
}

test("a missing key, a plain key and missing URLs are set as doctor advises", async () => {
  const none = await doctor({});
  expect(none.addresses?.fix).toMatch(/SERVERLESS_GPU_GRAPHQL_URL, .*SERVERLESS_GPU_QUEUE_URL\.$/);
  expect((await doctor({ ...urls })).addresses?.status).toBe("ok");
  await follow(none.config?.fix, "or run: ", ` ${KEY}`);
  expect((await doctor(urls)).config).toMatchObject({ status: "ok", found: expect.stringContaining("(secret)") });

  await stack.setConfig({ "serverless-gpu:apiKey": KEY });
  const plain = await doctor(urls);
  await follow(plain.config?.fix, "Set it again, as a secret: ", ` ${KEY}`);
  const secret = await doctor(urls);
  expect([secret.config?.status, secret.key?.status]).toEqual(["ok", "ok"]);
  await stack.succeed(["config", "rm", "serverless-gpu:apiKey"]);
});

test("a key for RunPod's own tools, a wrong one, and wrong names of settings are corrected as doctor advises", async () => {
  const own = { ...urls, RUNPOD_API_KEY: KEY };
  const unread = await doctor(own);
  const printed = await follow(
    unread.config?.fix,
    "Run: ",
    `; env | grep -E '^SERVERLESS_GPU_(API_KEY|SERVICE)='`,
    own,
  );
  const exported = Object.fromEntries(
    printed
      .trim()
      .split("\n")
      .map((line) => line.split("=")),
  );
  expect(exported).toEqual({ [VARIABLE]: KEY, SERVERLESS_GPU_SERVICE: "runpod" });
  const both = await doctor({ ...own, ...exported });
  expect([both.key?.status, both.config?.status]).toEqual(["ok", "ok"]);
  const half = await doctor({ ...own, ...exported, SERVERLESS_GPU_REST_URL: "" });
  expect(half.config?.fix).toMatch(/^To use the URLs, remove SERVERLESS_GPU_SERVICE, and set the others/);
  expect((await doctor({ ...own, [VARIABLE]: KEY })).config?.status).toBe("ok");

  const wrong = await doctor({ ...urls, [VARIABLE]: "another-key" });
  expect(wrong.key?.fix).toMatch(/Copy it again, or create a new one/);
  const misspelled = await doctor({
    ...urls,
    [VARIABLE]: KEY,
    SERVERLESS_GPU_QUEUEURL: "x",
    SERVERLESS_GPU_SERVICE: "runpods",
    SERVERLESS_GPU_API: "rest",
  });
  expect(misspelled.config?.fix).toMatch(
    /change it to runpod, or remove it.*Correct or remove SERVERLESS_GPU_QUEUEURL/s,
  );
  expect(misspelled.api?.fix).toBe("It is SERVERLESS_GPU_API: change it to graphql or v2, or remove it.");
  const corrected = await doctor({ ...urls, [VARIABLE]: KEY, SERVERLESS_GPU_API: "v2" });
  for (const check of ["config", "api", "key"]) expect(corrected[check]?.status).toBe("ok");
});

test("a stack that is not selected, and a secret that cannot be decrypted, are found again as doctor advises", async () => {
  await stack.setConfig({ "serverless-gpu:apiKey": KEY }, { secret: true });
  const closed = await doctor({ ...urls, PULUMI_CONFIG_PASSPHRASE: "another" });
  expect(closed.config?.fix).toMatch(/^Set the passphrase \(PULUMI_CONFIG_PASSPHRASE\)/);
  expect((await doctor({ ...urls, PULUMI_CONFIG_PASSPHRASE: "test" })).key?.status).toBe("ok");

  await stack.succeed(["stack", "unselect"]);
  const unselected = await doctor(urls);
  await follow(unselected.config?.fix, "select it: ", " dev --non-interactive");
  expect((await doctor(urls)).key?.status).toBe("ok");
  await stack.succeed(["config", "rm", "serverless-gpu:apiKey"]);
});

test("the line that doctor prints refuses keys of other accounts, and the advice for those works", async () => {
  const { account } = await doctor();
  const [, line = ""] = /add this line: (.*)$/.exec(account?.found ?? account?.fix ?? "") ?? [];
  expect(line).toMatch(/^serverless-gpu:account: \S+[^.]$/);
  const settings = `${await readFile(path.join(stack.folder, "Pulumi.dev.yaml"), "utf8")}config:\n  ${line}\n`;
  await stack.writeFile("Pulumi.dev.yaml", settings.replace("config: {}\n", ""));
  expect((await doctor()).account).toMatchObject({ status: "ok", found: expect.not.stringContaining("add this line") });
  await stack.succeed(["config", "set", "serverless-gpu:account", "user_another"]);
  const other = await doctor();
  expect(other.account).toMatchObject({ status: "failed", fix: expect.stringMatching(/or correct the setting \(/) });
  await stack.succeed(["config", "set", "serverless-gpu:account", line.replace(/^.*: /, "")]);
  expect((await doctor()).account?.status).toBe("ok");
  await stack.succeed(["config", "rm", "serverless-gpu:account"]);
});

test("duplicate names, and the end of GraphQL, are mended as doctor advises", async () => {
  await using ended = await startEmulator({ profile: "observed", apiKey: KEY, graphqlEnded: "410" });
  const retired = await doctor({ ...ended.env, SERVERLESS_GPU_API: "graphql" });
  expect(retired.key?.fix).toBe("Switch to REST v2. Trying again does not help.");
  expect((await doctor({ ...ended.env, SERVERLESS_GPU_API: "v2" })).key?.status).toBe("ok");

  const program = (second: string) => `
const { ServerlessEndpoint } = require("pulumi-serverless-gpu");
new ServerlessEndpoint("one", { name: "${second}", gpuIds: "AMPERE_24", templateId: "t" });
`;
  const env = { ...urls, [VARIABLE]: KEY };
  await stack.writeProgram(program("twin"));
  await stack.succeed(["up", "--yes", "--skip-preview"], env);
  const [own] = emulator.endpoints.list();
  const { id } = emulator.endpoints.create({ name: "twin", gpuIds: "AMPERE_24", templateId: "t" });
  expect((await doctor()).names?.fix).toMatch(
    /^Find out which stack has which id \(pulumi stack --show-ids\), and rename one/,
  );
  expect((await stack.succeed(["stack", "--show-ids"])).stdout).toContain(own?.id);
  await stack.writeProgram(program("single"));
  await stack.succeed(["up", "--yes", "--skip-preview"], env);
  expect((await doctor()).names?.status).toBe("ok");
  expect(emulator.endpoints.list().map((each) => each.id)).toEqual([own?.id, id]);
});
