import { type InputProblem, InvalidInputError } from "../../sdk/errors/errors";
import { type Properties, UNKNOWN } from "../engine/properties";
import { newOwner, ownerOf } from "../machine/stamp";
import { managerInThisRun, markAdopter, markManager, unmarkAdopter } from "./adopters";

/*
 * Tracks which resource of the running program manages which record. A process serves one
 * deployment.
 */

/**
 * `true` once the program declares resources. Before that, `up --refresh` compares the contents of
 * state.
 */
let isProgramRunning = false;

/** The resources that were compared, by the id of their record. */
const compared = new Map<string, string>();

/** The inputs that the program gives to the last checked resource, and the id of its record. */
let last: { readonly newInputs: string; readonly id?: string } = { newInputs: "{}" };

/** The new resources that adopt a record, by its id. */
const adopters = new Map<string, string>();

/**
 * Notes that a resource was checked. If the resource exists, a call of `diff` follows. If it is new
 * and adopts a record, no other resource may adopt the same one.
 */
export function noteChecked(newInputs: Properties, { adoptId }: Properties, isNew: boolean): InputProblem[] {
  isProgramRunning = true;
  const text = JSON.stringify(newInputs);
  if (!isNew) {
    last = { newInputs: text };
    return [];
  }
  if (adoptId === undefined || adoptId === UNKNOWN) return [];
  const id = String(adoptId);
  // The `check` of a replacement follows the `diff` of the old resource and has the same inputs.
  if (last.id === id && last.newInputs === text) {
    unmarkAdopter(id, compared.get(id) ?? "");
    compared.delete(id);
  }
  if (adopters.has(id))
    return [{ property: "adoptId", message: `another resource also adopts ${id}. Keep one of them` }];
  adopters.set(id, newOwner());
  return [];
}

/** Returns the automatic name that the last checked resource would get if it were new. */
export function freshAutomaticName(): unknown {
  const { automaticName, proposedName = automaticName } = JSON.parse(last.newInputs);
  return proposedName;
}

/**
 * Notes which record the last checked resource manages. Does nothing during a refresh, because a
 * refresh also compares resources that are no longer in the program.
 * @throws InvalidInputError if another resource of the program manages the same record
 */
export function noteCompared(noun: string, id: string, outputs: Properties): void {
  if (!isProgramRunning) return;
  const owner = ownerOf(outputs);
  last = { ...last, id };
  refuseSecond(noun, id, owner, [compared.get(id), adopters.get(id), managerInThisRun(id)]);
  compared.set(id, owner);
  if (outputs.adoptId !== undefined || outputs.__automaticName === false) markAdopter(id, owner, "has");
  else markManager(id, owner);
}

/** Returns `true` if a resource of the running program manages the record or will adopt it. */
export function isDeclared(id: string): boolean {
  return adopters.has(id) || compared.has(id);
}

/**
 * Returns the token of a resource that is being created.
 * @throws InvalidInputError if it adopts a record that another resource of the program manages
 */
export function ownerOfNew(noun: string, { adoptId }: Properties): string {
  const id = String(adoptId);
  const owner = adopters.get(id) ?? newOwner();
  if (adoptId !== undefined) refuseSecond(noun, id, owner, [compared.get(id), managerInThisRun(id)]);
  return owner;
}

function refuseSecond(noun: string, id: string, owner: string, others: readonly (string | undefined)[]): void {
  if (others.every((other) => other === undefined || other === owner)) return;
  const message =
    `two resources in this program manage ${noun} ${id}. Keep only one of them in the program, and run pulumi up without ` +
    `--target: the ${noun} is kept and belongs to that resource. With --target, or with destroy, the ${noun} may be deleted`;
  throw new InvalidInputError("the program", [{ property: "adoptId", message }]);
}
