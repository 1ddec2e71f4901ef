import { randomBytes } from "node:crypto";
import { InvalidInputError } from "../../sdk/errors";
import { claimsOfOtherProcesses, type RecordClaim, shareClaim } from "../machine/sharedClaims";
import type { Properties } from "../properties";

/*
 * Tracks which resources of the running program have which record at the service. Two resources may
 * have the same record: the program renames a resource and adopts its record under the new name, or
 * two resources have the same `adoptId`. Handlers do not know URNs, so each resource has a token,
 * which state keeps as `__owner`. Claims last for one deployment, in which each provider has its
 * own process: see sharedClaims.ts.
 */

const TIME_DIGITS = 8;
const RANDOM_BYTES = 4;

/** The claims on each record, by its id and the owner. */
const claims = new Map<string, Map<string, RecordClaim>>();

/** The owners of resources that are new in this program and adopt a record, by its id. */
const adopters = new Map<string, string>();

const HELD: RecordClaim = { standing: "held", reason: "" };
const WANTED: RecordClaim = { standing: "wanted", reason: "" };

/**
 * Returns a token for a new resource: the time in seconds and random digits. It must not be an
 * input: plans compare those.
 */
export function newOwner(): string {
  const seconds = Math.floor(Date.now() / 1000);
  return seconds.toString(16).padStart(TIME_DIGITS, "0") + randomBytes(RANDOM_BYTES).toString("hex");
}

/**
 * Returns when the token was drawn, in seconds since 1970; 0 for an older token, which holds no
 * time.
 */
export function drawnAt(owner: string): number {
  return owner.length === TIME_DIGITS + 2 * RANDOM_BYTES ? Number.parseInt(owner.slice(0, TIME_DIGITS), 16) : 0;
}

/** Returns the token of a resource in state; an empty string if state has none. */
export function ownerOf({ __owner }: Properties): string {
  return typeof __owner === "string" ? __owner : "";
}

/**
 * `true` once the program declares resources. Before that, `up --refresh` compares what state
 * holds.
 */
let isProgramRunning = false;

/**
 * The resource that was compared last: the inputs that the program gives it, its id and its token.
 */
let compared: { readonly newInputs: string; readonly id?: string; readonly owner?: string } = { newInputs: "{}" };

/** Notes that `check` was called. For a resource that exists, `diff` follows. */
export function noteChecked(newInputs: Properties, isNew: boolean): void {
  isProgramRunning = true;
  if (!isNew) compared = { newInputs: JSON.stringify(newInputs) };
}

/** Returns the automatic name that the last checked resource would get if it were new. */
export function freshAutomaticName(): unknown {
  const { automaticName, proposedName = automaticName } = JSON.parse(compared.newInputs);
  return proposedName;
}

/**
 * Notes which record the last checked resource has. Does nothing in a refresh, which compares every
 * resource in state, even those that the program does not have.
 * @throws InvalidInputError if another resource of the program has it too
 */
export function claimCompared(noun: string, id: string, owner: string): void {
  if (!isProgramRunning) return;
  claimAlone(noun, id, owner, HELD);
  compared = { ...compared, id, owner };
}

/**
 * Notes that a new resource of the program will adopt the record. `check` sees a replacement as a
 * new resource, right after the old resource's `diff` and with the same inputs. It ends the old
 * claim.
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

/** Returns `true` if a resource of the running program has the record, or will adopt it. */
export function isClaimed(id: string): boolean {
  return adopters.has(id) || claims.has(id) || claimsOfOtherProcesses(id).size > 0;
}

/** Returns the token of a resource that is created. */
export function ownerOfNew({ adoptId }: Properties): string {
  return adopters.get(String(adoptId)) ?? newOwner();
}

/**
 * Adopts a record for a new resource. Until that has succeeded, the record stays with its former
 * resource. @throws InvalidInputError if another resource of the program has the record
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
 * Notes that a resource of the program has the record, or will have it.
 * @throws InvalidInputError if another resource of the program has it too
 */
function claimAlone(noun: string, id: string, owner: string, own: RecordClaim): void {
  claim(id, owner, own);
  if (claimsOfOthers(id, owner).length === 0) return;
  const message =
    `two resources in this program manage ${noun} ${id}. Keep only one of them in the program, and run pulumi up without ` +
    `--target: the ${noun} is kept and belongs to that resource. With --target, or with destroy, the ${noun} is deleted`;
  throw new InvalidInputError("the program", [{ property: "adoptId", message }]);
}

/** Returns the claims of the program's other resources on the record. */
export function claimsOfOthers(id: string, owner: string): readonly RecordClaim[] {
  const all = [...(claims.get(id) ?? []), ...claimsOfOtherProcesses(id)];
  return all.filter(([each]) => each !== owner).map(([, each]) => each);
}

/** Notes that a resource no longer has the record. */
export function release(id: string, owner: string): void {
  claims.get(id)?.delete(owner);
  shareClaim(id, owner, undefined);
}

function claim(id: string, owner: string, own: RecordClaim): void {
  const owners = claims.get(id) ?? new Map<string, RecordClaim>();
  if (owners.get(owner)?.standing === own.standing) return;
  shareClaim(id, owner, own);
  owners.set(owner, own);
  claims.set(id, owners);
}
