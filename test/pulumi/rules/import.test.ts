import { APIS, createRulesStack, UP } from "../../faults/rules/stack";
import { startStandIn } from "../../faults/rules/standIn";

// The npm form cannot import.
test.each(APIS)("an import option resets no setting that the program does not declare, over %s", async (api) => {
  await using standIn = await startStandIn();
  const stack = await createRulesStack(standIn, { form: "plugin", api });
  const { account } = standIn;
  const endpoint = account.addEndpoint(
    { name: "served", gpuIds: "AMPERE_24", workersMax: 7, idleTimeout: 77, scalerValue: 9, executionTimeoutMs: 90_000 },
    { imageName: "me/app:1", env: { MODE: "console" }, containerDiskInGb: 33 },
  );
  const volume = account.add("volume", { name: "data", size: 10, dataCenterId: "EU-RO-1", highPerformance: true });
  const template = account.addTemplate({ name: "shared", imageName: "me/app:2", env: { A: "b" }, dockerArgs: "run" });
  const secret = account.add("secret", {
    name: "token",
    value: "of-a-person",
    description: "ours",
    createdAt: "2026-01-01T00:00:00Z",
    changedAt: "2026-01-01T00:00:00Z",
  });
  // Over GraphQL, an endpoint shows the template that it is linked to.
  const container = api === "graphql" ? { templateId: endpoint.templateId } : { imageName: "me/app:1" };
  const before = [
    account.settings("endpoint", endpoint.id),
    account.settings("volume", volume.id),
    account.settings("template", template.id),
  ];
  await stack.declare([
    {
      is: "ServerlessEndpoint",
      name: "served",
      args: { name: "served", gpuIds: "AMPERE_24", ...container },
      options: { import: endpoint.id },
    },
    {
      is: "NetworkVolume",
      name: "data",
      args: { name: "data", size: 10, dataCenterId: "EU-RO-1" },
      options: { import: volume.id },
    },
    {
      is: "ServerlessTemplate",
      name: "shared",
      args: { name: "shared", imageName: "me/app:2" },
      options: { import: template.id },
    },
  ]);
  const run = await stack.run(UP);
  expect(run.output).not.toMatch(/error:/);
  expect(standIn.writes).toEqual([]);
  await stack.run(UP);
  expect([
    account.settings("endpoint", endpoint.id),
    account.settings("volume", volume.id),
    account.settings("template", template.id),
  ]).toEqual(before);
  expect(secret.value).toBe("of-a-person");
});
