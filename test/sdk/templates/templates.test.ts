import fc from "fast-check";
import { InUseError, InvalidInputError, NameTakenError } from "../../../sdk/errors/errors";
import { TEMPLATE_CHECKS } from "../../../sdk/templates/input";
import { startEmulated } from "../../support/emulated";

const INPUT = { name: "t", imageName: "app:1", env: { TOKEN: "token-canary-1", MODE: "fast" } };
const FULL = {
  id: "t1",
  name: "t",
  imageName: "app:1",
  isServerless: true,
  env: [
    { key: "PORT", value: "80" },
    { key: "MODE", value: "fast" },
  ],
  dockerArgs: "run",
  containerDiskInGb: 30,
  volumeMountPath: "/data",
  portsConfig: [{ port: "80", name: "web" }],
  startScript: "echo",
  advancedStart: true,
  category: "NVIDIA" as const,
  readme: "text",
};

test("a change sends every field, keeps other people's variables, and removes variables that are set to null", async () => {
  await using service = await startEmulated();
  service.emulator.templates.create(FULL);
  const changed = await service.run(
    service.client.templates.update("t1", { imageName: "app:2", env: { MODE: null, A: "1" } }),
  );
  expect(changed).toMatchObject({
    imageName: "app:2",
    env: { A: "1", PORT: "80" },
    dockerArgs: "run",
    containerDiskInGb: 30,
  });
  expect(service.emulator.templates.get("t1")).toMatchObject({
    ...FULL,
    imageName: "app:2",
    env: [
      { key: "A", value: "1" },
      { key: "PORT", value: "80" },
    ],
  });
});

test("nothing is sent if nothing differs, which is confirmed by a second read", async () => {
  await using service = await startEmulated();
  service.emulator.templates.create(FULL);
  await service.run(service.client.templates.update("t1", { imageName: "app:1", env: { MODE: "fast" } }));
  expect(service.calls()).toEqual(["myself", "myself"]);
});

test("a list with an older version neither suppresses a change nor restores old variables", async () => {
  await using service = await startEmulated();
  const { emulator, client } = service;
  const { id } = await service.run(client.templates.create(INPUT));
  await service.run(client.templates.update(id, { imageName: "app:2", env: { MODE: null } }));
  emulator.faults.add({ match: { operation: "myself" }, effect: { listLagMs: 4_000 } });
  const back = await service.run(client.templates.update(id, { imageName: "app:1" }));
  expect(back.imageName).toBe("app:1");
  expect(emulator.templates.get(id)?.env).toEqual([{ key: "TOKEN", value: INPUT.env.TOKEN }]);
});

test("a change is never based on a list that another reader requested within the lag of this client's last change", async () => {
  await using service = await startEmulated();
  const { emulator, client, clock } = service;
  const { id } = await service.run(client.templates.create(INPUT));
  await service.run(client.templates.update(id, { env: { MODE: "slow" } }));
  emulator.faults.add({ match: { operation: "myself" }, effect: { listLagMs: 4_900 } });
  await clock.advance(4_500);
  const seen = await client.templates.list();
  expect(seen[0]?.env.MODE).toBe("fast");
  await service.run(client.templates.update(id, { imageName: "app:2" }));
  expect(emulator.templates.get(id)).toMatchObject({
    imageName: "app:2",
    env: expect.arrayContaining([{ key: "MODE", value: "slow" }]),
  });
});

test("a deletion uses the current name of the template", async () => {
  await using service = await startEmulated();
  const { emulator, client } = service;
  const { id } = await service.run(client.templates.create(INPUT));
  emulator.templates.change(id, { name: "renamed" });
  emulator.templates.create({ id: "stranger", name: "t", imageName: "other:1", isServerless: true });
  await service.run(client.templates.delete(id));
  expect(emulator.templates.list().map((each) => each.id)).toEqual(["stranger"]);
});

test("a deletion fails at once if an endpoint uses the template, and the error names the endpoint", async () => {
  await using service = await startEmulated();
  const { id } = await service.run(service.client.templates.create(INPUT));
  service.emulator.endpoints.create({ id: "e1", name: "llama", gpuIds: "ADA_24", templateId: id });
  const failing = service.run(service.client.templates.delete(id));
  await expect(failing).rejects.toThrow(InUseError);
  await expect(failing).rejects.toThrow(/endpoint "llama" \(e1\)/);
  expect(service.calls()).not.toContain("deleteTemplate");
});

test("a deletion waits until two minutes after the last use, and reports the wait", async () => {
  await using service = await startEmulated({ emulator: { templateReleaseMs: 120_000 } });
  const { emulator, client } = service;
  const { id } = await service.run(client.templates.create(INPUT));
  emulator.endpoints.create({ id: "e1", name: "llama", gpuIds: "ADA_24", templateId: id });
  emulator.endpoints.delete("e1");
  const waits: number[] = [];
  await service.run(client.templates.delete(id, { onWait: ({ elapsedMs }) => waits.push(elapsedMs) }));
  expect(emulator.templates.list()).toEqual([]);
  expect(waits.length).toBeGreaterThan(5);
  expect(waits.at(-1)).toBeGreaterThan(90_000);
});

test("a deletion gives up when its time is up, and the template remains", async () => {
  await using service = await startEmulated({ emulator: { templateReleaseMs: 120_000 } });
  const { emulator, client } = service;
  const { id } = await service.run(client.templates.create(INPUT));
  emulator.endpoints.create({ id: "e1", name: "llama", gpuIds: "ADA_24", templateId: id });
  emulator.endpoints.delete("e1");
  await expect(service.run(client.templates.delete(id, { releaseTimeoutMs: 20_000 }))).rejects.toThrow(
    /was not deleted within 20 s.*It still exists/,
  );
  expect(emulator.templates.list()).toHaveLength(1);
});

test("a rename to a taken name causes an error that names the template with that name", async () => {
  await using service = await startEmulated();
  service.emulator.templates.create({ id: "other", name: "taken", imageName: "app:1" });
  const { id } = await service.run(service.client.templates.create(INPUT));
  const failing = service.run(service.client.templates.update(id, { name: "taken" }));
  await expect(failing).rejects.toThrow(NameTakenError);
  await expect(failing).rejects.toThrow(/other/);
});

test("no message shows the value of a variable", async () => {
  await using service = await startEmulated();
  const { emulator, client } = service;
  const message = `Expected value of type "Int!", found "${INPUT.env.TOKEN}" in {key: "X", value: "plain\\"value"}`;
  emulator.faults.add({ match: { operation: "saveTemplate" }, effect: { graphqlError: { message } } });
  const error = (await service.run(client.templates.create(INPUT).catch((each: unknown) => each))) as Error;
  expect(error.message).toContain("[redacted]");
  expect(error.message).not.toContain(INPUT.env.TOKEN);
  expect(error.message).not.toMatch(/plain|value"\}/);
});

test("all problems are reported at once, without values", () => {
  const { problems } = TEMPLATE_CHECKS.check({
    imageName: " ",
    containerDiskInGb: 0,
    ports: "80",
    env: { "1A": "secret-value-1", B: 5 },
    imageNam: "x",
  });
  expect(problems.map(({ property }) => property)).toEqual([
    "imageName",
    "containerDiskInGb",
    "ports",
    "env",
    "env",
    "imageNam",
  ]);
  expect(JSON.stringify(problems)).not.toContain("secret-value-1");
});

test("an update of a missing template with an invalid field is refused before any request", async () => {
  await using service = await startEmulated();
  await expect(service.run(service.client.templates.update("none", { imageName: "" }))).rejects.toThrow(
    InvalidInputError,
  );
  expect(service.calls()).toEqual([]);
});

test("any environment is preserved by create, change and read, whatever its strings contain", async () => {
  await using service = await startEmulated();
  const { client } = service;
  const variable = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,12}$/);
  const env = fc.dictionary(variable, fc.string({ unit: "binary" }), { maxKeys: 8, noNullPrototype: true });
  let number = 0;
  await fc.assert(
    fc.asyncProperty(env, env, async (first, second) => {
      const created = await service.run(
        client.templates.create({ name: `t${++number}`, imageName: "app:1", env: first }),
      );
      expect(created.env).toEqual(first);
      const changed = await service.run(client.templates.update(created.id, { imageName: "app:2", env: second }));
      expect(changed.env).toEqual({ ...first, ...second });
    }),
    { numRuns: 25 },
  );
});
