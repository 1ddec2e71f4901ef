import type { ConsoleEdit } from "./actions";
import { aliveIn, type World } from "./world";

/** Changes an endpoint as its owner does in the console, and records what a run need not know. */
export async function edit(world: World, id: string, { field, value }: Omit<ConsoleEdit, "of">): Promise<void> {
  const one = aliveIn(world).get(id);
  if (!one) return;
  const { endpoints, url, apiKey } = world.service.accounts[one.account];
  if (field === "imageName") {
    const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
    const body = JSON.stringify({ image: value });
    const response = await fetch(`${url}/v2/serverless/${id}?console=1`, { method: "PATCH", headers, body });
    if (!response.ok) throw new Error(await response.text());
  } else {
    endpoints.change(id, { [field]: value });
  }
  noteEdit(world, id, { [field]: value });
}

/** Sets both counts to 0, as a person does in the console. */
export function switchOff(world: World, id: string): void {
  const one = aliveIn(world).get(id);
  if (!one) return;
  const zero = { workersMin: 0, workersMax: 0 };
  world.service.accounts[one.account].endpoints.change(id, zero);
  noteEdit(world, id, zero);
  world.switchedOff.add(id);
}

function noteEdit(world: World, id: string, fields: Readonly<Record<string, unknown>>): void {
  const { workersMin, workersMax } = { ...aliveIn(world).get(id)?.record, ...fields };
  world.given.get(id)?.workersMin.add(workersMin);
  world.given.get(id)?.workersMax.add(workersMax);
  const theirs = world.theirs.get(id);
  if (theirs) theirs.record = { ...theirs.record, ...fields };
  world.stale.add(id);
  world.unseen.delete(id);
}
