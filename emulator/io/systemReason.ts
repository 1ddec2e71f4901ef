/** Explanations of system error codes for the person who chose the file, host or program. */
const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file or folder",
  ENOTDIR: "a part of its path is not a folder",
  EISDIR: "it is a folder",
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "the disk is read-only",
  ENOSPC: "the disk is full",
  E2BIG: "its command or its environment is too large",
};

/** Explains a system error in plain words. For unknown codes, returns the error's message. */
export function systemReason(error: unknown): string {
  const { code = "", message = String(error) } = error as { code?: string; message?: string };
  return REASONS[code] ?? message;
}
