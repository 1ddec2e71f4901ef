import type { EndpointRelease } from "../../sdk";
import { fieldOfRelease, missingReleases, shownVersions } from "../../sdk/endpoints/releaseSettings";
import { withReleases } from "./releases";

/** The options of the command. */
export interface HistoryFlags {
  readonly api?: string;
  readonly json?: boolean;
}

/** Prints the releases of an endpoint: never a value. Returns the exit code. */
export function history(endpoint: string, { api, json }: HistoryFlags): Promise<number> {
  const command = ["history", endpoint, ...(json ? ["--json"] : [])];
  return withReleases(endpoint, { api, command }, async ({ id, releases }) => {
    const shown = releases.map(shownRelease);
    process.stdout.write(
      json ? `${JSON.stringify({ endpoint: id, releases: shown }, undefined, 2)}\n` : linesOf(shown),
    );
    const missing = missingReleases(releases);
    if (missing.length > 0) process.stderr.write(`The service does not show ${shownVersions(missing)}.\n`);
    return 0;
  });
}

/** A release without values: some may be secret. */
type ShownRelease = ReturnType<typeof shownRelease>;

function shownRelease({ id, version, createdAt, source, createdByUserId, changes }: EndpointRelease) {
  const fields = [...new Set(changes.map(({ field }) => fieldOfRelease(field)))].sort();
  return { release: id, version, createdAt, source, createdByUserId, fields };
}

function linesOf(releases: readonly ShownRelease[]): string {
  if (releases.length === 0) return "no releases\n";
  const lines = releases.map(({ release, createdAt, source, createdByUserId, fields }) => {
    const by = [source, createdByUserId].filter((each) => each !== undefined).join(" by ");
    return `${createdAt ?? "?"}  ${release}  ${by}  ${fields.join(", ") || "first release"}\n`;
  });
  return lines.join("");
}
