import { HEAD, printed, startPlays } from "./play";

// Look-ups and values of data sources that fail, and the same after the advice was followed.

/** Runs each expression in one program, and returns what it says or returns. */
async function preview(
  { stack }: Pick<Awaited<ReturnType<typeof startPlays>>, "stack">,
  expressions: Readonly<Record<string, string>>,
): Promise<Readonly<Record<string, string>>> {
  const tries = Object.entries(expressions).map(([name, code]) => `${name}: async () => ${code},`);
  await stack.writeProgram(`${HEAD}
const { ${Object.keys(gpuFunctions).join(", ")} } = gpu;
const tries = { ${tries.join("\n")} };
module.exports = async () => {
  const said = {};
  for (const [name, look] of Object.entries(tries))
    said[name] = await look().then((found) => JSON.stringify(found ?? null), (error) => error.message);
  return said;
};`);
  await stack.up();
  return (await stack.outputs()) as Readonly<Record<string, string>>;
}

const gpuFunctions = { getEndpoint: 1, getServerlessTemplate: 1, getNetworkVolume: 1 };

test("a look-up that fails succeeds after each advice was followed", async () => {
  await using account = await startPlays();
  const { emulator } = account;
  const endpoint = { gpuIds: "AMPERE_24", templateId: "tpl" };
  for (const [id, name] of Object.entries({ e1: "llama", e2: "twin", e3: "twin" }))
    emulator.endpoints.create({ ...endpoint, id, name });
  emulator.templates.create({ id: "t1", name: "tpl", imageName: "a:1", isServerless: true });
  for (const [id, dataCenterId] of Object.entries({ v1: "EU-RO-1", v2: "EU-CZ-1" }))
    emulator.volumes.create({ id, name: "double", size: 10, dataCenterId });
  const failed = await preview(account, {
    endpointName: 'getEndpoint({ name: "Llama" })',
    endpointTwins: 'getEndpoint({ name: "twin" })',
    templateName: 'getServerlessTemplate({ name: "Tpl" })',
    volumeTwins: 'getNetworkVolume({ name: "double" })',
    both: 'getServerlessTemplate({ id: "t1", name: "tpl" })',
    none: "getEndpoint({})",
  });
  const said = (name: string, says: RegExp) => printed({ output: String(failed[name]) }, says);
  said("endpointName", /is named "Llama"\. Check the name, its case and the API key/);
  said("templateName", /is named "Tpl"\. Check the name, its case and the API key/);
  const [, endpointId] = said("endpointTwins", /named "twin": (\w+), \w+\. Select one by its id/);
  const [, volumeId] = said("volumeTwins", /the name "double": (\w+), \w+\. Select one by its id/);
  said("both", /set either id or name/);
  said("none", /set either id or name/);
  const found = await preview(account, {
    endpointName: 'getEndpoint({ name: "llama" })',
    endpointTwins: `getEndpoint({ id: "${endpointId}" })`,
    templateName: 'getServerlessTemplate({ name: "tpl" })',
    volumeTwins: `getNetworkVolume({ id: "${volumeId}" })`,
    both: 'getServerlessTemplate({ id: "t1" })',
    none: 'getEndpoint({ name: "llama" })',
  });
  const ids = Object.entries(found).map(([name, text]) => [name, (JSON.parse(text) as { id: string }).id]);
  expect(Object.fromEntries(ids)).toEqual({
    endpointName: "e1",
    endpointTwins: endpointId,
    templateName: "t1",
    volumeTwins: volumeId,
    both: "t1",
    none: "e1",
  });
});

test("a record that the list does not show is found after it was mended at the service", async () => {
  await using account = await startPlays();
  const { emulator } = account;
  emulator.templates.create({ id: "t1", name: "tpl", imageName: "a:1", isServerless: true });
  const odd = { data: { myself: { podTemplates: [{ id: "t1", name: "tpl", imageName: 5, isServerless: true }] } } };
  emulator.faults.add({ match: { operation: "myself" }, effect: { status: 200, body: odd } });
  const look = { odd: 'getServerlessTemplate({ name: "tpl" })' };
  printed(
    { output: String((await preview(account, look)).odd) },
    /one record in the list cannot be read: .* Check it at the service/,
  );
  emulator.faults.clear();
  expect(JSON.parse(String((await preview(account, look)).odd))).toMatchObject({ id: "t1" });
});

test("a program that uses what a budget costs too early works with the expression that the message prints", async () => {
  await using account = await startPlays();
  const { stack } = account;
  const run = async (expression: string) => {
    await stack.writeProgram(`${HEAD}
const { getSpend, getSpendOutput } = gpu;
module.exports = async () => ({ over: ${expression} });`);
    return stack.run(["up", "--yes", "--skip-preview"]);
  };
  const early = await run("getSpend().amount > 3");
  expect(early.exitCode).not.toBe(0);
  const [, expression = ""] = printed(early, /which has no amount: write (\(await getSpend\(…\)\)\.amount)/);
  expect(await run(`${expression.replace("…", "")} > 3`)).toMatchObject({ exitCode: 0 });
  expect(await stack.outputs()).toEqual({ over: false });

  const output = await run("getSpendOutput().amount > 3");
  expect(output.exitCode).not.toBe(0);
  printed(output, /amount of getSpendOutput is an output, not a number yet: use it within apply/);
  expect(await run("getSpendOutput().amount.apply((amount) => amount > 3)")).toMatchObject({ exitCode: 0 });
  expect(await stack.outputs()).toEqual({ over: false });
});
