import type { OldResource, OldState } from "./oldResource";

/**
 * Returns the commands that remove resources from the old state. They delete nothing at the
 * service. Those that depend on others come first.
 */
export function removalCommands(tool: OldState["tool"], resources: readonly OldResource[]): string[] {
  const command = tool === "pulumi" ? "pulumi state delete" : "terraform state rm";
  return [...resources].reverse().map(({ address }) => `${command} ${quoted(address)}`);
}

/** Returns a word for a shell. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
