import { randomBytes } from "node:crypto";
import { InvalidInputError } from "../../sdk/errors";
import type { Properties } from "../properties";

/*
 * Records which resources of the running program have which endpoint. Two resources may have one endpoint: the program
 * renames a resource and adopts its endpoint under the new name, or two resources have the same `adoptId`. Handlers do not
 * know URNs, so each resource has a random token, which state keeps as `__owner`. Claims last as long as this process,
 * which serves one deployment.
 */

const OWNER_BYTES = 6;

/** The owners of each endpoint, by its id. */
const claims = new Map<string, Set<string>>();

/** The owners of resources that are new in this program and adopt an endpoint, by its id. */
const adopters = new Map<string, string>();

/** Returns a token for a new resource. */
export function newOwner(): string {
  return randomBytes(OWNER_BYTES).toString("hex");
}

/** Returns the token of a resource that state holds; an empty string if it was recorded without one. */
export function ownerOf({ __owner }: Properties): string {
  return typeof __owner === "string" ? __owner : "";
}

/**
 * Records that a new resource of the program will adopt the endpoint.
 * @returns `false` if another new resource will adopt it too
 */
export function claimForAdoption(id: string): boolean {
  if (adopters.has(id)) return false;
  const owner = newOwner();
  adopters.set(id, owner);
  claim(id, owner);
  return true;
}

/**
 * Returns the owner under which a new resource adopts the endpoint.
 * @throws InvalidInputError if another resource of the program has the endpoint
 */
export function adoptionOwner(id: string): string {
  const owner = adopters.get(id) ?? newOwner();
  claimAlone(id, owner);
  return owner;
}

/**
 * Records that a resource of the program has the endpoint.
 * @throws InvalidInputError if another resource of the program has it too
 */
export function claimAlone(id: string, owner: string): void {
  claim(id, owner);
  if (!isClaimedByOther(id, owner)) return;
  const message =
    `two resources of this program have endpoint ${id}. Remove one of them from the program: the endpoint then stays, and ` +
    "belongs to the other resource";
  throw new InvalidInputError("the program", [{ property: "adoptId", message }]);
}

/** Returns `true` if a resource of the program other than this one has the endpoint. */
export function isClaimedByOther(id: string, owner: string): boolean {
  return [...(claims.get(id) ?? [])].some((each) => each !== owner);
}

/** Records that a resource no longer has the endpoint. */
export function release(id: string, owner: string): void {
  claims.get(id)?.delete(owner);
}

function claim(id: string, owner: string): void {
  const owners = claims.get(id) ?? new Set();
  owners.add(owner);
  claims.set(id, owners);
}
