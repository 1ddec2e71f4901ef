import { createHash, randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { processNamespace, processState, systemStart } from "../../sdk/contract/processNamespace";
import type { Properties } from "../engine/properties";

/*
 * Machines and containers may share a cache folder, and a process id means nothing outside its own
 * process namespace. Whether a process still runs can therefore be proven only in the namespace in
 * which it ran, and only until the system is started again.
 */

/** Distinguishes this process from an earlier process that had the same process id. */
const run = randomBytes(8).toString("hex");

/**
 * Identifies the process namespace in which this process runs. It is a digest, because it is part
 * of file names.
 */
const machine = createHash("sha256")
  .update([hostname(), systemStart(), processNamespace()].join(" "))
  .digest("hex")
  .slice(0, 16);

/** `false` on a Linux system that does not reveal the process namespace. */
const isKnown = process.platform !== "linux" || (systemStart() !== "" && processNamespace() !== "");

/** Returns the properties that a machine record keeps about the process that writes it. */
export function thisProcess(): Properties {
  return { machine, process: process.pid, run };
}

/** Returns `true` if this process wrote the record. */
export function isOfThisProcess(record: Properties): boolean {
  return record.run === run;
}

/** Returns `true` unless the process that wrote the record is known to have ended. */
export function mayStillRun(record: Properties): boolean {
  if (isOfThisProcess(record) || !isKnown || record.machine !== machine) return true;
  return record.process !== process.pid && processState(Number(record.process)).isRunning;
}

/** Returns `true` if the process that wrote the record is known to be running. */
export function isSeenRunning(record: Properties): boolean {
  const isHere = record.machine === machine && record.process !== process.pid;
  return isOfThisProcess(record) || (isHere && processState(Number(record.process)).isRunning);
}
