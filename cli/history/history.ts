import type { EndpointRelease } from "../../sdk";
import { fieldOfRelease, missingReleases, shownVersions } from "../../sdk/endpoints/releaseSettings";
import { printJson, printLines, say } from "../terminal";
import { withReleases } from "./releases";

export interface HistoryFlags {
  readonly api?: string;
  readonly json?: boolean;
}

/** Prints the releases of an endpoint without any values. Returns the exit code. */
export function history(endpoint: string, { api, json }: HistoryFlags): Promise<number> {
  const command = ["history", endpoint, ...(json ? ["--json"] : [])];
  return withReleases(endpoint, { api, command }, async ({ id, releases }) => {
    const shown = releases.map(shownRelease);
    if (json) printJson({ endpoint: id, releases: shown }, 2);
    else printLines(linesOf(shown));
    const missing = missingReleases(releases);
    if (missing.length > 0) say(`The service does not show ${shownVersions(missing)}.`);
    return 0;
  });
}

/** A release without its values, because some may be secret. */
type ShownRelease = ReturnType<typeof shownRelease>;

function shownRelease({ id, version, createdAt, source, createdByUserId, changes }: EndpointRelease) {
  const fields = [...new Set(changes.map(({ field }) => fieldOfRelease(field)))].sort();
  return { release: id, version, createdAt, source, createdByUserId, fields };
}

function linesOf(releases: readonly ShownRelease[]): string[] {
  if (releases.length === 0) return ["no releases"];
  return releases.map(({ release, createdAt, source, createdByUserId, fields }) => {
    const by = [source, createdByUserId].filter((each) => each !== undefined).join(" by ");
    return `${createdAt ?? "?"}  ${release}  ${by}  ${fields.join(", ") || "first release"}`;
  });
}
