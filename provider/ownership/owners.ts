import { randomBytes } from "node:crypto";
import { InvalidInputError } from "../../sdk/errors";
import { type Claim, claimsOfOtherProcesses, shareClaim } from "../machine/sharedClaims";
import type { Properties } from "../properties";

/*
 * Records which resources of the running program have which object of the service, such as an endpoint. Two resources may
 * have one object: the program renames a resource and adopts its object under the new name, or two resources have the same
 * `adoptId`. Handlers do not
 * know URNs, so each resource has a token, which state keeps as `__owner`. Claims last for one deployment, in which
 * each provider has its own process: see sharedClaims.ts.
 */

const TIME_DIGITS = 8;
const RANDOM_BYTES = 4;

/** The claims on each object, by its id and the owner. */
const claims = new Map<string, Map<string, Claim>>();

/** The owners of resources that are new in this program and adopt an object, by its id. */
const adopters = new Map<string, string>();

const HELD: Claim = { standing: "held", reason: "" };
const WANTED: Claim = { standing: "wanted", reason: "" };

/** Returns a token for a new resource: the time in seconds and random digits. It must not be an input: plans compare those. */
export function newOwner(): string {
  const seconds = Math.floor(Date.now() / 1000);
  return seconds.toString(16).padStart(TIME_DIGITS, "0") + randomBytes(RANDOM_BYTES).toString("hex");
}

/** Returns when the token was drawn, in seconds since 1970; 0 for a token of before, which holds no time. */
export function drawnAt(owner: string): number {
  return owner.length === TIME_DIGITS + 2 * RANDOM_BYTES ? Number.parseInt(owner.slice(0, TIME_DIGITS), 16) : 0;
}

/** Returns the token of a resource that state holds; an empty string if it was recorded without one. */
export function ownerOf({ __owner }: Properties): string {
  return typeof __owner === "string" ? __owner : "";
}

/** `true` once the program declares resources. Before that, `up --refresh` compares what state holds. */
let isProgramRunning = false;

/** The resource that was compared last: the inputs that the program gives it, its id and its token. */
let compared: { readonly newInputs: string; readonly id?: string; readonly owner?: string } = { newInputs: "{}" };

/** Notes that `check` was called. For a resource that exists, `diff` follows. */
export function noteChecked(newInputs: Properties, isNew: boolean): void {
  isProgramRunning = true;
  if (!isNew) compared = { newInputs: JSON.stringify(newInputs) };
}

/** Returns the automatic name that the resource that was checked last would get if it were new. */
export function freshAutomaticName(): unknown {
  const { automaticName, proposedName = automaticName } = JSON.parse(compared.newInputs);
  return proposedName;
}

/**
 * Notes which object the resource has that was checked last. Does nothing in a refresh: it compares every resource of the
 * state, and the program may have none of them.
 * @throws InvalidInputError if another resource of the program has it too
 */
export function claimCompared(noun: string, id: string, owner: string): void {
  if (!isProgramRunning) return;
  claimAlone(noun, id, owner, HELD);
  compared = { ...compared, id, owner };
}

/**
 * Notes that a new resource of the program will adopt the object. `check` sees a replacement as a new resource. It
 * comes right after the old resource's `diff`, with the same inputs, and ends the old claim.
 * @returns `false` if another new resource will adopt it too
 */
export function claimForAdoption(id: string, newInputs: Properties): boolean {
  const isReplacement = compared.id === id && compared.newInputs === JSON.stringify(newInputs);
  if (isReplacement) release(id, compared.owner ?? "");
  if (adopters.has(id)) return false;
  const owner = newOwner();
  adopters.set(id, owner);
  claim(id, owner, WANTED);
  return true;
}

/** Returns the token of a resource that is created. */
export function ownerOfNew({ adoptId }: Properties): string {
  return adopters.get(String(adoptId)) ?? newOwner();
}

/**
 * Adopts an object for a new resource. Until that has succeeded, the object stays with its former resource.
 * @throws InvalidInputError if another resource of the program has the object
 */
export async function adoptAlone<T>(noun: string, id: string, owner: string, adopt: () => Promise<T>): Promise<T> {
  try {
    claimAlone(noun, id, owner, WANTED);
    const adopted = await adopt();
    claim(id, owner, HELD);
    return adopted;
  } catch (error) {
    claim(id, owner, { standing: "failed", reason: error instanceof Error ? error.message : String(error) });
    throw error;
  }
}

/**
 * Records that a resource of the program has the object, or will have it.
 * @throws InvalidInputError if another resource of the program has it too
 */
function claimAlone(noun: string, id: string, owner: string, own: Claim): void {
  claim(id, owner, own);
  if (claimsOfOthers(id, owner).length === 0) return;
  const message =
    `two resources in this program manage ${noun} ${id}. Keep one of them in the program, and run pulumi up without ` +
    `--target: the ${noun} is kept and belongs to it. With --target, or with destroy, the ${noun} is deleted`;
  throw new InvalidInputError("the program", [{ property: "adoptId", message }]);
}

/** Returns the claims of the program's other resources on the object. */
export function claimsOfOthers(id: string, owner: string): readonly Claim[] {
  const all = [...(claims.get(id) ?? []), ...claimsOfOtherProcesses(id)];
  return all.filter(([each]) => each !== owner).map(([, each]) => each);
}

/** Records that a resource no longer has the object. */
export function release(id: string, owner: string): void {
  claims.get(id)?.delete(owner);
  shareClaim(id, owner, undefined);
}

function claim(id: string, owner: string, own: Claim): void {
  const owners = claims.get(id) ?? new Map<string, Claim>();
  if (owners.get(owner)?.standing === own.standing) return;
  shareClaim(id, owner, own);
  owners.set(owner, own);
  claims.set(id, owners);
}
