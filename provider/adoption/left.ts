import type { AccountIdentity } from "../connection/account";
import { namesOf } from "../fields/settings";
import { type LeftAdoption, leftAdoptions } from "../machine/note";

/*
 * An adoption that is killed leaves a record in no state, perhaps with settings of the program. No
 * handler of its resource is called again if the program is reverted, so the first handler of any
 * resource on this machine names it.
 */

/**
 * Returns a warning for each record that a killed run on this machine was about to adopt and whose
 * settings it may have changed.
 * @param isDeclared returns `true` for the id of a record that the program declares
 */
export function leftAdoptionWarnings(account: AccountIdentity, isDeclared: (id: string) => boolean): string[] {
  return leftAdoptions(account).flatMap(({ record: { noun, id }, note: { name, sent } }) => {
    if (isDeclared(id)) return [];
    const way =
      noun === "endpoint"
        ? `restore it: npx pulumi-serverless-gpu rollback ${id} --left --yes`
        : "restore these settings in the service's console";
    return [
      `a run on this machine did not finish the adoption of ${noun} ${id} ("${name}"). The ${noun} may still have ` +
        `${namesOf(sent)} of that program. If a stack manages or adopts it, run pulumi up there. Otherwise, make sure that ` +
        `no run is adopting it now, and ${way}`,
    ];
  });
}

/** Returns the unfinished adoption of an endpoint that a killed run on this machine left behind. */
export function leftAdoption(account: AccountIdentity, id: string): LeftAdoption | undefined {
  return leftAdoptions(account).find(({ record }) => record.noun === "endpoint" && record.id === id);
}
