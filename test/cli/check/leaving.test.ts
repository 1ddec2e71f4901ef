import { FORMS, type Form, previewOf, reviewed, step, urnOf } from "./previews";

// The engine's preview says "delete", and the record stays.

const BIG = { gpuIds: "AMPERE_80", templateId: "t", workersMin: 1, workersMax: 2, name: "bigone", id: "big" };
const MODELS = { size: 20, dataCenterId: "EU-RO-1", name: "models", id: "v1" };

describe.each(Object.keys(FORMS) as Form[])("in the %s form", (form) => {
  const endpoint = (op: string, old: object, more: object = {}) =>
    step(op, "llama", { old: { ...BIG, ...old }, form, ...more });
  const volume = (op: string, old: object, more: object = {}) =>
    step(op, "models", { kind: "NetworkVolume", old: { ...MODELS, ...old }, form, ...more });
  const guard = (op: string) =>
    step(op, "guard", { old: { ...BIG, id: "guard" }, form, ...(op === "same" && { inputs: BIG }) });
  const deletedWith = urnOf("guard", "ServerlessEndpoint", form);

  test("a resource whose state has its adoptId is released, and costs as much as before", async () => {
    const steps = [endpoint("delete", { adoptId: "big" }), volume("delete", { adoptId: "v1" })];
    const { code, stdout } = await reviewed(previewOf(steps), {});
    expect(code).toBe(0);
    expect(stdout).toContain("Endpoints and network volumes: 2 to release\n");
    expect(stdout).toContain(
      "STAYS  llama: endpoint big (bigone) is not deleted, but released, because the state has its adoptId. It stays",
    );
    expect(stdout).toContain("STAYS  models: network volume v1 (models) is not deleted, but released");
    expect(stdout).not.toContain("DATA LOSS");
    const { cost, stays } = JSON.parse((await reviewed(previewOf(steps), { json: true })).stdout);
    expect(cost.after.fullScale).toBe(cost.before.fullScale);
    expect(stays.map(({ kind, resource }: Record<string, string>) => [kind, resource])).toEqual([
      ["released", "llama"],
      ["released", "models"],
    ]);
  });

  test("a resource whose deletedWith is deleted in the same run is only removed from the state", async () => {
    const steps = [guard("delete"), endpoint("delete", {}, { deletedWith }), volume("delete", {}, { deletedWith })];
    const { stdout } = await reviewed(previewOf(steps), {});
    expect(stdout).toContain("Endpoints and network volumes: 1 to delete, 2 to remove from the state only\n");
    expect(stdout).toContain(
      'STAYS  llama: endpoint big (bigone) is not deleted, but only removed from state, because "guard"',
    );
    expect(stdout).toContain("STAYS  models: network volume v1 (models) is not deleted, but only removed from state");
    expect(stdout).not.toContain("DATA LOSS");
  });

  test("a resource without adoptId, or whose deletedWith stays, is deleted", async () => {
    const steps = [guard("same"), endpoint("delete", {}), volume("delete", {}, { deletedWith })];
    const { stdout } = await reviewed(previewOf(steps), {});
    expect(stdout).toContain("2 to delete");
    expect(stdout).toContain("DATA LOSS  models");
    expect(stdout).not.toContain("STAYS");
  });

  test("a record that another resource manages afterwards is not reported as left", async () => {
    const inputs = { ...BIG, adoptId: "big", id: undefined };
    const steps = [step("create", "new", { inputs, form }), endpoint("delete", { adoptId: "big" })];
    expect((await reviewed(previewOf(steps), {})).stdout).not.toContain("STAYS");
  });
});
