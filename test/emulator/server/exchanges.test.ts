import { startEmulator } from "../../../emulator";

const TEMPLATE = 'name: "t", imageName: "i", containerDiskInGb: 5, volumeInGb: 0, dockerArgs: ""';

test("the journal returns the headers and bodies of a request and its response, without the key or secrets", async () => {
  await using emulator = await startEmulator({ profile: "observed", apiKey: "key-of-the-account" });
  const { url, apiKey } = emulator;
  const exchange = async (number: number) => {
    const headers = { authorization: `Bearer ${apiKey}` };
    const response = await fetch(`${url}/_emulator/journal/${number}`, { headers });
    return { status: response.status, text: await response.text() };
  };
  const graphql = (query: string) =>
    fetch(`${url}/graphql?api_key=${apiKey}`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${apiKey}`, "x-note": `of ${apiKey}` },
      body: JSON.stringify({ query }),
    });
  await graphql(`mutation { saveTemplate(input: { ${TEMPLATE}, env: [{ key: "HF_TOKEN", value: "x9" }] }) { id } }`);
  await graphql("query { myself { podTemplates { name env { key value } } } }");
  await fetch(`${url}/v2/none/run`, {
    method: "POST",
    headers: { authorization: apiKey },
    body: JSON.stringify({
      input: { prompt: "hello" },
      webhook: "https://example.com/?token=webhook-token",
      s3Config: { accessId: "id", accessSecret: "storage-secret", bucketName: "b", endpointUrl: "https://s3" },
    }),
  });
  await graphql('mutation { saveTemplate(input: { env: [{ key: "A", value: "y8-\\"quoted" }, { value: "not-closed');
  const all = await Promise.all([1, 2, 3, 4].map(exchange));
  const [saved, listed, submitted] = all.map(({ text }) => JSON.parse(text));
  expect(saved.request.headers).toMatchObject({ authorization: "[redacted]", "x-note": "of [redacted]" });
  expect(saved.request.body).toContain("saveTemplate");
  expect(saved.response).toMatchObject({
    headers: { "content-type": "application/json" },
    body: expect.stringContaining('"id"'),
  });
  expect(listed.response.body).toContain("HF_TOKEN");
  expect(submitted.request.body).toContain('"prompt": "hello"');
  expect(submitted.response.body).toContain('"status": 404');
  for (const { text } of all)
    expect(text).not.toMatch(/x9|y8|quoted|not-closed|key-of-the-account|storage-secret|webhook-token/);
  expect((await exchange(5)).status).toBe(404);
  expect((await exchange(Number.NaN)).status).toBe(404);
});

test("the journal keeps the beginning of a long body, and the latest 500 requests", async () => {
  await using emulator = await startEmulator({ profile: "contract" });
  const { url, apiKey } = emulator;
  const headers = { authorization: `Bearer ${apiKey}` };
  const read = async (number: number) => fetch(`${url}/_emulator/journal/${number}`, { headers });
  await fetch(`${url}/v2/none/run`, { method: "POST", headers, body: JSON.stringify({ input: "x".repeat(100_000) }) });
  const { request } = JSON.parse(await (await read(1)).text());
  expect(request).toMatchObject({ isCut: true });
  expect(request.body).toHaveLength(10_000);
  for (let count = 0; count < 500; count++) await fetch(`${url}/v1/pods/none`, { headers }).then((each) => each.text());
  expect((await read(1)).status).toBe(404);
  expect((await read(2)).status).toBe(200);
});
