import { assumeSecrets } from "../../../../cli/check/rehearsal/assumeSecrets";
import { rewriteConfig } from "../../../../cli/check/rehearsal/copyStack";
import { decryptedPlan } from "../../../../cli/check/rehearsal/decryptPlan";
import {
  assertRewritten,
  type Exported,
  isSecret,
  revealed,
  rewriteState,
} from "../../../../cli/check/rehearsal/rewriteState";
import { accountRecord } from "../../../../provider/connection/account";

const STAGE = { url: "http://127.0.0.1:4000", apiKey: "emulator-key", salt: "v1:salt" };
const SECRET = { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270" };
const TYPE = "pulumi-nodejs:dynamic/serverless-gpu:ServerlessEndpoint";
/** The `encryptionsalt` of a stack, and a secret in it. Pulumi 3.230 wrote both. */
const SAVED = [
  "v1:pT8GKUQu8mI=:v1:4liUba+uaLhdBh0C:ehlCAPndasIZdZItG90FODYiapmlcw==",
  "v1:RNgP0E2nzPbBkhGT:BQZIvAarl4WYni/O2eEFXjcHE+6mN0w=",
] as const;
const urn = (type: string, name: string) => `urn:pulumi:production::app::${type}::${name}`;
const account = (provider: string) => accountRecord({ service: "runpod", apiKey: "real-key", provider }, "ep1");

const exported = (): Exported => ({
  version: 3,
  deployment: {
    secrets_providers: { type: "cloud", state: { url: "awskms://alias/real", encryptedkey: "k" } },
    pending_operations: [{ type: "updating" }],
    resources: [
      {
        urn: urn(TYPE, "llama"),
        type: TYPE,
        id: "ep1",
        inputs: { name: "llama", env: { TOKEN: { ...SECRET, ciphertext: "c1" }, PLAIN: "p" } },
        outputs: {
          __account: account("eu"),
          queueUrl: "https://api.runpod.ai/v2/ep1",
          env: { ...SECRET, ciphertext: "c2" },
        },
      },
      {
        urn: urn("aws:Parameter", "url"),
        type: "aws:Parameter",
        id: "arn:1",
        outputs: { value: "at https://api.runpod.ai/v2/ep1" },
      },
    ],
  },
});

test("A copied state uses the emulator's account, URLs, secrets provider and secrets, and keeps its ids", () => {
  const original = exported();
  const before = JSON.stringify(original);
  const { state, notes } = rewriteState(original, STAGE);
  assertRewritten(state, STAGE);
  expect(JSON.stringify(original)).toBe(before);
  const [llama, other] = state.deployment.resources ?? [];
  expect(llama).toMatchObject({ id: "ep1", inputs: { name: "llama", env: { PLAIN: "p" } } });
  expect(llama?.outputs).toMatchObject({
    __account: accountRecord({ service: STAGE.url, apiKey: STAGE.apiKey, provider: "eu" }, "ep1"),
    queueUrl: `${STAGE.url}/v2/ep1`,
  });
  expect(other).toMatchObject({ id: "arn:1", outputs: { value: `at ${STAGE.url}/v2/ep1` } });
  expect(JSON.stringify(state)).not.toMatch(/ciphertext|runpod|awskms|pending/);
  expect(notes).toEqual([expect.stringContaining("1 operations of a killed run are left out")]);
});

test("A state is refused if any part of it was not rewritten", () => {
  const changed = (change: (copy: Exported) => void) => {
    const { state } = rewriteState(exported(), STAGE);
    change(state);
    return () => assertRewritten(state, STAGE);
  };
  const first = ({ deployment }: Exported) => deployment.resources?.[0]?.outputs ?? {};
  expect(() => assertRewritten(exported(), STAGE)).toThrow("still has the secrets provider of the stack");
  const refusals = [
    [(copy: Exported) => Object.assign(first(copy), { __account: account("") }), "still belongs to another account"],
    [(copy: Exported) => Object.assign(first(copy), { queueUrl: "https://api.runpod.ai/v2/ep1" }), "another URL"],
    [(copy: Exported) => Object.assign(first(copy), { env: { ...SECRET, ciphertext: "c" } }), "an encrypted secret"],
    [(copy: Exported) => Object.assign(copy.deployment, { pending_operations: [] }), "operations of a killed run"],
  ] as const;
  for (const [change, message] of refusals) expect(changed(change)).toThrow(message);
});

test("A copied state contains no API key, wherever the original stored one", () => {
  const { version } = exported();
  const type = "pulumi:providers:pulumi-nodejs";
  const plain = (value: unknown) => ({ ...SECRET, plaintext: JSON.stringify(value) });
  const provider = { urn: urn(type, "eu"), type, id: "p", inputs: { "serverless-gpu:apiKey": plain("eu-key") } };
  const of = { ...provider, type: "pulumi:providers:serverless-gpu", inputs: { apiKey: "us-key" } };
  const user = {
    urn: urn(TYPE, "a"),
    type: TYPE,
    id: "a",
    outputs: { note: plain({ text: "eu-key us-key real-key" }) },
  };
  const resources = [provider, of, user];
  const stage = { ...STAGE, keys: ["real-key"] };
  const { state } = rewriteState({ version, deployment: { resources } }, stage);
  assertRewritten(state, stage);
  expect(JSON.stringify(state)).not.toMatch(/eu-key|us-key|real-key/);
  Object.assign(state.deployment.resources?.[2] ?? {}, { outputs: { note: "real-key" } });
  expect(() => assertRewritten(state, stage)).toThrow("still has an API key");
});

test("A saved plan is decrypted without a file, using only the passphrase of its stack", () => {
  const [salt, ciphertext] = SAVED;
  const plan = JSON.stringify({
    resourcePlans: { u: { goal: { inputDiff: { adds: { a: { ...SECRET, ciphertext } } } } } },
  });
  const { resourcePlans } = decryptedPlan(plan, salt, "test");
  expect(revealed(resourcePlans?.u?.goal?.inputDiff?.adds?.a)).toBe("hello");
  expect(() => decryptedPlan(plan, salt, "other")).toThrow();
});

test.each([
  ["", "llama", []],
  [
    ", also after an alias renamed the resource",
    "llama-2",
    [{ op: "update", urn: urn(TYPE, "llama-2"), oldState: { urn: urn(TYPE, "llama"), type: TYPE } }],
  ],
])("A secret in state gets the program's value, at any depth, and is reported as not known%s", (_, name, steps) => {
  const { state } = rewriteState(exported(), STAGE);
  const resources = state.deployment.resources ?? [];
  const env = { TOKEN: { ...SECRET, plaintext: '"Bearer x"' }, PLAIN: "q" };
  const plan = { resourcePlans: { [urn(TYPE, name)]: { goal: { inputDiff: { updates: { env } } } } } };
  expect(assumeSecrets(resources, plan, steps)).toEqual(["llama: env.TOKEN", "llama: env"]);
  const [{ inputs = {}, outputs = {} } = {}] = resources;
  const { TOKEN, PLAIN } = inputs.env as Record<string, unknown>;
  expect(PLAIN).toBe("p");
  expect([isSecret(TOKEN), revealed(TOKEN)]).toEqual([true, "Bearer x"]);
  expect(revealed(outputs.env)).toEqual({ TOKEN: "Bearer x", PLAIN: "p" });
});

test("The config of the copy contains neither a secrets provider nor a secret of the stack", () => {
  const config = [
    "secretsprovider: awskms://alias/real",
    "encryptedkey: AQ==",
    "config:",
    "  app:size: 5",
    "  app:token:",
    "    secure: v1:real:one",
    "  app:nested:",
    '    - { name: a, key: { secure: "v1:real:two" } }',
    "",
  ].join("\n");
  expect(rewriteConfig(config, "v1:salt", "v1:mine").split("\n")).toEqual([
    "encryptionsalt: v1:salt",
    "config:",
    "  app:size: 5",
    "  app:token:",
    "    secure: v1:mine",
    "  app:nested:",
    "    - { name: a, key: { secure: v1:mine } }",
    "",
  ]);
});
