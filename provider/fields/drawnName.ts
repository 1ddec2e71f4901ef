import { randomBytes } from "node:crypto";
import { NameTakenError } from "../../sdk/errors/errors";
import type { NamedRecord } from "../../sdk/records/listed";
import { log } from "../engine/log";
import type { Properties } from "../engine/properties";
import { readRecord, removeRecord, type Subject, writeRecord } from "../machine/machineRecord";
import { isOfThisProcess, mayStillRun, thisProcess } from "../machine/processes";

/*
 * Names that must be unique at the service, and that the program does not set. The digits are
 * random, because a deleted record may keep its name. They are drawn here and not in `check`,
 * because a saved plan compares inputs. If the engine is killed before it records what was created,
 * the next run finds the name in this machine's record.
 */

const RANDOM_DIGITS = 7;

/**
 * The random digits at the end of a name. A name chosen by `pulumi:autonaming` may not end with
 * any.
 */
const ENDING = new RegExp(`-[0-9a-f]{${RANDOM_DIGITS}}$`);

/** The functions that create a record or handle a record that an interrupted run left behind. */
interface Making<T> {
  /** Creates a record, unless a record with this name already exists. */
  readonly create: (name: string, onNameTaken: (existing: readonly T[]) => T) => Promise<T>;
  /**
   * Takes over the record that an interrupted run created. Returns `undefined` if the record cannot
   * be used.
   */
  readonly takeOver: (record: T) => Promise<T | undefined>;
  readonly refuse: (existing: readonly T[], name: string) => never;
}

/**
 * Creates a record under a generated name, or takes over the record that an interrupted run on this
 * machine created. Only generated names are noted on this machine, because a record with any other
 * name may be someone else's.
 */
export async function createNamed<T extends NamedRecord>(
  place: Pick<Subject, "service" | "noun">,
  { name: proposedName, __automaticName }: Properties,
  { create, takeOver, refuse }: Making<T>,
): Promise<T> {
  const subject: Subject = {
    ...place,
    thing: "create",
    key: String(__automaticName === true ? proposedName : __automaticName),
  };
  const recorded = proposedName === undefined ? recordedName(place.noun, subject) : undefined;
  let leftOver: T | undefined;
  const createAs = async (name: string) => {
    if (name !== proposedName) writeRecord(subject, { name, ...thisProcess() });
    const onNameTaken = (existing: readonly T[]) => {
      const [only] = existing;
      if (name !== recorded || only === undefined || existing.length > 1) return refuse(existing, name);
      leftOver = only;
      return only;
    };
    try {
      return await create(name, onNameTaken);
    } catch (error) {
      // Nothing was created. If we kept this machine's note, it would claim a record that another
      // resource manages.
      if (error instanceof NameTakenError) removeRecord(subject);
      throw error;
    }
  };
  const first = String(recorded ?? proposedName ?? otherDigits(`${__automaticName}`));
  let made: T | undefined = await createAs(first).catch((error: unknown) => {
    if (error instanceof NameTakenError && ENDING.test(first)) return undefined;
    throw error;
  });
  if (leftOver !== undefined) {
    made = await takeOver(leftOver);
    if (made === undefined) warnOfLeftOver(place.noun, leftOver);
  }
  made ??= await createAs(otherDigits(first));
  removeRecord(subject);
  return made;
}

/**
 * Returns the name that an interrupted run on this machine generated. If that run may still be in
 * progress, the name belongs to it and is not returned.
 */
function recordedName(noun: string, subject: Subject): unknown {
  const { name, ...by } = readRecord(subject) ?? {};
  if (name === undefined || isOfThisProcess(by) || !mayStillRun(by)) return name;
  log(
    String(name),
    `warning: a run that shares this machine's cache, and may not have ended, began to create ${noun} "${name}". This run ` +
      "creates another one. If that run was killed, and nothing uses what it created, delete it",
  );
  return undefined;
}

/**
 * Returns the name with new random digits. They replace the digits at its end, if there are any.
 */
function otherDigits(name: string): string {
  return `${name.replace(ENDING, "")}-${randomBytes(RANDOM_DIGITS).toString("hex").slice(0, RANDOM_DIGITS)}`;
}

function warnOfLeftOver(noun: string, { id, name }: NamedRecord): void {
  log(
    name,
    `warning: an interrupted run created ${noun} ${id}, which this run cannot use. If nothing else uses it, delete it`,
  );
}
