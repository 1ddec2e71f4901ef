import { randomBytes } from "node:crypto";
import { InvalidInputError } from "../../sdk/errors";
import { claimsOfOtherProcesses, shareClaim } from "../machine/sharedClaims";
import type { Properties } from "../properties";

/*
 * Records which resources of the running program have which object of the service, such as an endpoint. Two resources may
 * have one object: the program renames a resource and adopts its object under the new name, or two resources have the same
 * `adoptId`. Handlers do not
 * know URNs, so each resource has a random token, which state keeps as `__owner`. Claims last for one deployment, in which
 * each provider has its own process: see sharedClaims.ts.
 */

const OWNER_BYTES = 6;

/** The owners of each object, by its id. */
const claims = new Map<string, Set<string>>();

/** The owners of resources that are new in this program and adopt an object, by its id. */
const adopters = new Map<string, string>();

/** Returns a token for a new resource. */
export function newOwner(): string {
  return randomBytes(OWNER_BYTES).toString("hex");
}

/** Returns the token of a resource that state holds; an empty string if it was recorded without one. */
export function ownerOf({ __owner }: Properties): string {
  return typeof __owner === "string" ? __owner : "";
}

/** The resource that was compared last: the inputs that the program gives it, its id and its token. */
let compared: { readonly newInputs: string; readonly id?: string; readonly owner?: string } = { newInputs: "{}" };

/** Notes that `check` was called for a resource that exists; `diff` follows. */
export function noteChecked(newInputs: Properties): void {
  compared = { newInputs: JSON.stringify(newInputs) };
}

/** Returns the automatic name that the resource that was checked last would get if it were new. */
export function freshAutomaticName(): unknown {
  const { automaticName, proposedName = automaticName } = JSON.parse(compared.newInputs);
  return proposedName;
}

/**
 * Notes which object the resource has that was checked last.
 * @throws InvalidInputError if another resource of the program has it too
 */
export function claimCompared(noun: string, id: string, owner: string): void {
  claimAlone(noun, id, owner);
  compared = { ...compared, id, owner };
}

/**
 * Notes that a new resource of the program will adopt the object. `check` sees a replacement as a new resource. It
 * comes right after the old resource's `diff`, with the same inputs, and ends the old claim.
 * @returns its token, or `undefined` if another new resource will adopt it too
 */
export function claimForAdoption(id: string, newInputs: Properties): string | undefined {
  const isReplacement = compared.id === id && compared.newInputs === JSON.stringify(newInputs);
  if (isReplacement) release(id, compared.owner ?? "");
  if (adopters.has(id)) return undefined;
  const owner = newOwner();
  adopters.set(id, owner);
  claim(id, owner);
  return owner;
}

/**
 * Returns the token of a resource that is created. If it adopts an object, it claims it.
 * @throws InvalidInputError if another resource of the program has the object
 */
export function claimNew(noun: string, { adoptId, __adopter }: Properties): string {
  const owner = String(__adopter ?? newOwner());
  if (adoptId !== undefined) claimAlone(noun, String(adoptId), owner);
  return owner;
}

/**
 * Records that a resource of the program has the object.
 * @throws InvalidInputError if another resource of the program has it too
 */
function claimAlone(noun: string, id: string, owner: string): void {
  claim(id, owner);
  if (!isClaimedByOther(id, owner)) return;
  const message =
    `two resources in this program manage ${noun} ${id}. Keep one of them in the program, and run pulumi up without ` +
    `--target: the ${noun} is kept and belongs to it. With --target, or with destroy, the ${noun} is deleted`;
  throw new InvalidInputError("the program", [{ property: "adoptId", message }]);
}

/** Returns `true` if a resource of the program other than this one has the object. */
export function isClaimedByOther(id: string, owner: string): boolean {
  return [...(claims.get(id) ?? []), ...claimsOfOtherProcesses(id)].some((each) => each !== owner);
}

/** Records that a resource no longer has the object. */
export function release(id: string, owner: string): void {
  claims.get(id)?.delete(owner);
  shareClaim("-", id, owner);
}

function claim(id: string, owner: string): void {
  const owners = claims.get(id) ?? new Set();
  if (owners.has(owner)) return;
  shareClaim("+", id, owner);
  owners.add(owner);
  claims.set(id, owners);
}
