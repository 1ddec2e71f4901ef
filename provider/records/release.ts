import { currentPlace } from "../connection/connection";
import { log } from "../engine/log";
import type { Properties } from "../engine/properties";
import { closeNote } from "../machine/note";
import { ownerOf } from "../machine/stamp";
import { unmarkAdopter } from "../ownership/adopters";
import { writtenBy } from "./write";

/**
 * Releases a record that this stack has adopted: the resource leaves state, and the record stays at
 * the service. Sends no request.
 */
export function release(noun: string, id: string, outputs: Properties): void {
  const name = String(outputs.name ?? id);
  const place = currentPlace();
  if (place) closeNote(writtenBy(place, noun, id));
  unmarkAdopter(id, ownerOf(outputs));
  log(
    name,
    `warning: ${noun} ${id} is released, not deleted, because this stack adopted it (adoptId). It still exists and is still ` +
      "billed. To delete it, use the service's console, or npx pulumi-serverless-gpu orphans --all. To let a stack delete " +
      "it, adopt it again, run pulumi up, remove adoptId, run pulumi up, and then remove the resource",
  );
}
