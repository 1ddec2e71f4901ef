import { startEmulator } from "../../../emulator";
import { providerSettings } from "../../../provider/connection/config";
import { createClient } from "../../../sdk";
import { currentRehearsal, REHEARSAL_VARIABLES } from "../../../sdk/transport/rehearsal";

const { url: URL_VARIABLE, apiKey: KEY_VARIABLE } = REHEARSAL_VARIABLES;

afterEach(() => {
  for (const name of [URL_VARIABLE, KEY_VARIABLE]) delete process.env[name];
});

test("The address of a rehearsal takes precedence over options, explicit providers and a key from a variable", async () => {
  await using emulator = await startEmulator({ profile: "contract", apiKey: "rehearsal-key" });
  await using real = await startEmulator({ profile: "contract", apiKey: "real-key" });
  Object.assign(process.env, { [URL_VARIABLE]: emulator.url, [KEY_VARIABLE]: emulator.apiKey });
  await using client = createClient({ apiKey: "real-key", graphqlUrl: real.url, queueUrl: real.url });
  await client.endpoints.list();
  expect(real.journal.requests()).toEqual([]);
  expect(emulator.journal.requests()).toHaveLength(1);

  const explicit: Record<string, string> = { explicit: "eu", apiKeyEnv: "NOT_SET", service: "runpod" };
  expect(providerSettings((name) => explicit[name])).toMatchObject({
    apiKey: "rehearsal-key",
    graphqlUrl: emulator.url,
    restUrl: emulator.url,
    queueUrl: emulator.url,
    provider: "eu",
  });
});

test("A client that was created before a rehearsal sends nothing to another host", async () => {
  await using real = await startEmulator({ profile: "contract" });
  await using client = createClient({ apiKey: real.apiKey, graphqlUrl: real.url, queueUrl: real.url });
  Object.assign(process.env, { [URL_VARIABLE]: "http://127.0.0.1:9", [KEY_VARIABLE]: "rehearsal-key" });
  await expect(client.endpoints.list()).rejects.toThrow(
    `no request was sent to ${real.url}, because SERVERLESS_GPU_REHEARSAL_URL is set, and a rehearsal uses only the emulator at http://127.0.0.1:9`,
  );
  expect(real.journal.requests()).toEqual([]);
});

test("Nothing is sent if the rehearsal's address or key is missing, or if the address points to another machine", () => {
  expect(currentRehearsal({})).toBeUndefined();
  for (const environment of [
    { [KEY_VARIABLE]: "k" },
    { [URL_VARIABLE]: "" },
    { [URL_VARIABLE]: "", [KEY_VARIABLE]: "k" },
  ])
    expect(() => currentRehearsal(environment)).toThrow(`because ${URL_VARIABLE} is missing`);
  expect(() => currentRehearsal({ [URL_VARIABLE]: "http://127.0.0.1:1" })).toThrow(
    `nothing is sent, because ${KEY_VARIABLE} is missing, which a rehearsal needs. Outside of a rehearsal, unset ${URL_VARIABLE} and ${KEY_VARIABLE}`,
  );
  const remote = { [URL_VARIABLE]: "https://api.example.com", [KEY_VARIABLE]: "k" };
  expect(() => currentRehearsal(remote)).toThrow("is not the URL of an emulator on this machine");
});
