import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import path from "node:path";
import type { Emulator } from "../../emulator";
import { processState } from "../../sdk/contract/processNamespace";

/** An emulator that this user started on this machine. */
export type Running = Pick<Emulator, "url" | "env">;

const NAME = /^(\d+)\.json$/;

/**
 * Writes a file about this process's emulator that only this user can read. Returns a function that
 * removes the file.
 */
export function noteRunning({ url, env }: Running): () => void {
  const folder = notesFolder();
  const file = path.join(folder, `${process.pid}.json`);
  try {
    mkdirSync(folder, { mode: 0o700, recursive: true });
    if (isOwn(folder)) writeFileSync(file, JSON.stringify({ url, env }), { mode: 0o600 });
  } catch {
    // Only `emulator env` needs the file. The emulator works without it.
  }
  return () => rmSync(file, { force: true });
}

/** Returns the running emulators, and removes the files that killed ones left behind. */
export function runningEmulators(): Running[] {
  const folder = notesFolder();
  if (!isOwn(folder)) return [];
  return readdirSync(folder).flatMap((name) => {
    const pid = NAME.exec(name)?.[1];
    if (pid === undefined) return [];
    try {
      if (!processState(Number(pid)).isRunning) rmSync(path.join(folder, name), { force: true });
      return [JSON.parse(readFileSync(path.join(folder, name), "utf8")) as Running];
    } catch {
      // The emulator has just exited or was killed.
      return [];
    }
  });
}

function notesFolder(): string {
  return path.join(
    process.env.XDG_RUNTIME_DIR ?? tmpdir(),
    `serverless-gpu-emulators-${process.getuid?.() ?? userInfo().username}`,
  );
}

/** Other users can write to a temporary folder, and their files could point to their own server. */
function isOwn(folder: string): boolean {
  const found = statSync(folder, { throwIfNoEntry: false });
  return found?.isDirectory() === true && (process.getuid === undefined || found.uid === process.getuid());
}
