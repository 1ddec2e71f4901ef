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

/** The claims on each record: by the record's id, then by owner. */
const claims = new Map<string, Map<string, RecordClaim>>();

/** The owners of this program's new resources that adopt a record, by the record's id. */
const adopters = new Map<string, string>();

const HELD: RecordClaim = { standing: "held", reason: "" };
const WANTED: RecordClaim = { standing: "wanted", reason: "" };

/**
 * Returns a token for a new resource, made of the time in seconds and random digits. The token must
 * not be an input, because update plans compare inputs.
 */
export function newOwner(): string {
  const seconds = Math.floor(Date.now() / 1000);
  return seconds.toString(16).padStart(TIME_DIGITS, "0") + randomBytes(RANDOM_BYTES).toString("hex");
}

/**
 * Returns when the token was generated, in seconds since 1970, or 0 for a token in the old format,
 * which contains no time.
 */
export function drawnAt(owner: string): number {
  return owner.length === TIME_DIGITS + 2 * RANDOM_BYTES ? Number.parseInt(owner.slice(0, TIME_DIGITS), 16) : 0;
}

/** Returns the token of a resource in state, or an empty string if state has no token. */
export function ownerOf({ __owner }: Properties): string {
  return typeof __owner === "string" ? __owner : "";
}

/**
 * `true` once the program declares resources. Before that, `up --refresh` compares the contents of
 * state.
 */
let isProgramRunning = false;

/**
 * The resource that was compared last: the inputs that the program gives to it, its id and its
 * token.
 */
let compared: { readonly newInputs: string; readonly id?: string; readonly owner?: string } = { newInputs: "{}" };

/** Notes that `check` was called. If the resource exists, a call of `diff` follows. */
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
 * Notes which record the last checked resource has. Does nothing during a refresh, because a
 * refresh compares every resource in state, even resources that are no longer in the program.
 * @throws InvalidInputError if another resource of the program has the same record
 */
export function claimCompared(noun: string, id: string, owner: string): void {
  if (!isProgramRunning) return;
  claimAlone(noun, id, owner, HELD);
  compared = { ...compared, id, owner };
}

/**
 * Notes that a new resource of the program will adopt the record. If the new resource is a
 * replacement, its `check` comes right after the `diff` of the old resource and has the same
 * inputs. In that case, the old resource's claim ends.
 * @returns `false` if another new resource will also adopt the record
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

/** Returns `true` if a resource of the running program has the record or will adopt it. */
export function isClaimed(id: string): boolean {
  return adopters.has(id) || claims.has(id) || claimsOfOtherProcesses(id).size > 0;
}

/** Returns the token for a resource that is being created. */
export function ownerOfNew({ adoptId }: Properties): string {
  return adopters.get(String(adoptId)) ?? newOwner();
}

/**
 * Adopts a record for a new resource. Until the adoption succeeds, the record stays with its
 * previous resource. @throws InvalidInputError if another resource of the program has the record
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
 * Notes that a resource of the program has the record or will have it.
 * @throws InvalidInputError if another resource of the program has the same record
 */
function claimAlone(noun: string, id: string, owner: string, own: RecordClaim): void {
  claim(id, owner, own);
  if (claimsOfOthers(id, owner).length === 0) return;
  const message =
    `two resources in this program manage ${noun} ${id}. Keep only one of them in the program, and run pulumi up without ` +
    `--target: the ${noun} is kept and belongs to that resource. With --target, or with destroy, the ${noun} is deleted`;
  throw new InvalidInputError("the program", [{ property: "adoptId", message }]);
}

/** Returns the claims that other resources of the program have on the record. */
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
