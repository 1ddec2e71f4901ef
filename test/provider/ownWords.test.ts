import { inOwnWords } from "../../provider/smokeTest/ownWords";
import { createClient } from "../../sdk/client/client";
import { addressesOf, startScriptedServer } from "../support/scriptedServer";

const CLIENT = /retry\(\)|idempotent|client\.endpoint/;

/** Returns the message of the client's error, in its own words and in the provider's. */
async function messages(replies: readonly (object | undefined)[], status = 200) {
  let asked = 0;
  await using server = await startScriptedServer(() => ({ status, body: replies[asked++] ?? {} }));
  await using client = createClient({ apiKey: "key", service: "runpod", ...addressesOf(server) });
  const run = async () => (await client.endpoint("abc123def456").run({ input: {} })).wait({ timeoutMs: 5_000 });
  const error = await run().then(
    () => undefined,
    (thrown: unknown) => thrown as Error,
  );
  const before = error?.message ?? "";
  return { before, after: (inOwnWords(error) as Error).message };
}

test("A test whose job fails or times out does not tell the user to call a function of the client.", async () => {
  for (const status of ["FAILED", "TIMED_OUT"]) {
    const { before, after } = await messages([
      { id: "job-1", status: "IN_QUEUE" },
      { id: "job-1", status },
    ]);
    expect(before).toMatch(CLIENT);
    expect(after).not.toMatch(CLIENT);
    expect(after).toMatch(/The next pulumi up runs the test again$/);
  }
});

test("A test whose submission is uncertain does not tell the user to call a function of the client.", async () => {
  const { before, after } = await messages([{ status: "IN_QUEUE" }]);
  expect(before).toMatch(CLIENT);
  expect(after).not.toMatch(CLIENT);
});

test("A test with a job at a load-balancing endpoint tells the user to set a path.", async () => {
  const { before, after } = await messages([{ error: "this endpoint is not allowed for QB API" }], 400);
  expect(before).toMatch(CLIENT);
  expect(after).toMatch(/it is a load-balancing endpoint, which has no queue\. Set path instead of input$/);
});
