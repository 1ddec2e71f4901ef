import { InvalidInputError, NameTakenError } from "../../sdk/errors/errors";
import { engineAddress } from "../engine/exitWithEngine";
import { log } from "../engine/log";
import type { Properties } from "../engine/properties";
import { readRecord, removeRecord, type Subject, writeRecord } from "../machine/machineRecord";
import { drawnAt, ownerOf } from "../machine/stamp";

/*
 * A resource may adopt a record that another resource of the program manages, for example under a
 * new logical name. The previous resource must then not delete it. Its handler does not know the
 * program, so the adopter leaves a mark on this machine. The mark also works across the processes
 * of one deployment, and for runs that leave a resource out (`--target`).
 */

/** Identifies this deployment; empty if there is no engine. */
const deployment = engineAddress(process.argv) ?? "";

/**
 * Marks a record for the resource that adopts it: `wants` before the adoption, `has` once the
 * resource manages it.
 * @param engine the engine's address; only a program has to pass it
 */
export function markAdopter(id: string, owner: string, standing: "wants" | "has", engine = deployment): void {
  writeRecord(subjectOf(id), { owner, standing, engine, at: Math.floor(Date.now() / 1000) });
}

/**
 * Marks a record for the resource that manages it, unless another resource has adopted the record.
 * An adopter under another provider, whose handlers run in another process, sees this mark.
 */
export function markManager(id: string, owner: string): void {
  const { owner: marked = owner } = readRecord(subjectOf(id)) ?? {};
  if (marked === owner) markAdopter(id, owner, "has");
}

/**
 * Returns the owner token of the resource that manages the record in this run, or is about to adopt
 * it, by its mark.
 */
export function managerInThisRun(id: string): string | undefined {
  const { owner, engine } = readRecord(subjectOf(id)) ?? {};
  return isThisRun(engine) && typeof owner === "string" ? owner : undefined;
}

/** Removes the mark of this resource when it releases or deletes the record. */
export function unmarkAdopter(id: string, owner: string): void {
  if (readRecord(subjectOf(id))?.owner === owner) removeRecord(subjectOf(id));
}

/**
 * Returns `true`, and logs this, if another resource has adopted the record in this run and manages
 * it now.
 */
export function isKeptByAdopter(noun: string, id: string, outputs: Properties): boolean {
  const { standing, engine } = otherAdopter(id, outputs) ?? {};
  if (standing !== "has" || !isThisRun(engine)) return false;
  log(
    String(outputs.name ?? id),
    `warning: ${noun} ${id} is not deleted, because another resource in the program has adopted it. Only this resource's ` +
      "entry is removed from state",
  );
  return true;
}

/** Returns the mark of another resource that adopts or has adopted the record. */
function otherAdopter(id: string, outputs: Properties): Properties | undefined {
  const own = ownerOf(outputs);
  const mark = readRecord(subjectOf(id));
  // A resource that was created after the adoption, perhaps on another machine, took it over.
  return mark === undefined || mark.owner === own || drawnAt(own) > Number(mark.at) ? undefined : mark;
}

const isThisRun = (engine: unknown) => engine === deployment && deployment !== "";

/** The records whose names creates of this run needed, in vain. */
const needed = new Set<string>();

/**
 * Notes the records that the error of a refused create names, and throws that error. It says how to
 * keep them, but an engine that continues after errors deletes those that the program lacks.
 */
export function noteNeeded(error: unknown): never {
  if (deployment !== "" && error instanceof NameTakenError) for (const id of error.ids) needed.add(id);
  throw error;
}

/**
 * Refuses to delete a record that another resource may manage, or that a refused create of this run
 * names.
 * @throws InvalidInputError if another resource was about to adopt the record, or adopted it in an
 * earlier run, because that resource may still be in the program
 */
export function refuseLeftToAdopter(noun: string, id: string, outputs: Properties): void {
  if (needed.has(id)) {
    const message =
      `${noun} ${id} is not deleted, and this resource stays in state, because another resource with its name could not be ` +
      `created in this run. The error of that resource says how to keep the ${noun}. To delete it, remove the other resource, and run pulumi up`;
    throw new InvalidInputError("the deletion", [{ property: "name", message }]);
  }
  const adopter = otherAdopter(id, outputs);
  if (!adopter || (adopter.standing !== "has" && !isThisRun(adopter.engine))) return;
  const why = isThisRun(adopter.engine)
    ? `the resource that should adopt the ${noun} has not done so. Fix the other errors of this run, if any, and run pulumi up without --target`
    : [
        `another resource adopted the ${noun} in an earlier run on this machine.`,
        "If that resource still manages it, remove this one from state, which deletes nothing at the service: pulumi stack " +
          "--show-urns prints its URN, and pulumi state delete 'URN' removes it.",
        `If not, set adoptId to "${id}" in this resource, run pulumi up, and then remove adoptId again, so that it owns the ${noun}`,
      ].join("\n");
  const message = `${noun} ${id} is not deleted, and this resource stays in state, because ${why}`;
  throw new InvalidInputError("the deletion", [{ property: "adoptId", message }]);
}

/**
 * The id alone identifies the record, because a program does not know the service of each provider.
 */
function subjectOf(id: string): Subject {
  return { service: "", noun: "", thing: "adopter", key: id };
}
