/** What the system's codes mean for the one who named the file, the address or the program. */
const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file or folder",
  ENOTDIR: "a part of its path is no folder",
  EISDIR: "it is a folder",
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "the disk is read-only",
  ENOSPC: "the disk is full",
};

/** Why the system refused something, in plain words where there are any. */
export function systemReason(error: unknown): string {
  const { code = "", message = String(error) } = error as { code?: string; message?: string };
  return REASONS[code] ?? message;
}
