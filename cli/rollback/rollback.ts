import type { EndpointChanges } from "../../sdk";
import { changesToRelease, notTaken, shownVersions } from "../../sdk/endpoints/releaseSettings";
import { sayWhileWaiting } from "../connection/readInTime";
import { withReleases } from "../history/releases";
import { printLines, say } from "../terminal";
import { takeBackLeft } from "./left";

export interface RollbackFlags {
  readonly api?: string;
  /** The id or version of the release. */
  readonly to?: string;
  /** Reverts the changes of an unfinished adoption on this machine. */
  readonly left?: boolean;
  readonly yes?: boolean;
}

/** Settings whose values are never printed, because they may contain secrets. */
const HIDDEN = ["env", "dockerArgs", "containerRegistryAuthId"];

/**
 * Prints the program change that returns an endpoint to an earlier release. With `--yes`, also
 * applies the change at RunPod. Returns the exit code.
 */
export async function rollback(endpoint: string, { api, to, yes = false }: RollbackFlags): Promise<number> {
  return to === undefined ? takeBackLeft(endpoint, api, yes) : toRelease(endpoint, to, api, yes);
}

function toRelease(endpoint: string, to: string, api: string | undefined, yes: boolean): Promise<number> {
  const command = ["rollback", endpoint, "--to", to, ...(yes ? ["--yes"] : [])];
  return withReleases(endpoint, { api, command }, async ({ id, client, releases }) => {
    const found = changesToRelease(releases, to);
    if (!found)
      throw new Error(`endpoint ${id} has no release ${to}: npx pulumi-serverless-gpu history ${id} lists them`);
    const { changes, unknown, missing } = found;
    if (missing.length > 0) {
      throw new Error(
        `the service does not show ${shownVersions(missing)}, so the settings of release ${to} are not known: nothing was ` +
          "changed. Set them in the program, and run pulumi up",
      );
    }
    if (unknown.length > 0) {
      throw new Error(
        `the releases after ${to} changed ${unknown.join(", ")}, which this command cannot roll back. Nothing was changed. Set ` +
          "the earlier values in the program, and run pulumi up",
      );
    }
    if (Object.keys(changes).length === 0) {
      printLines([`endpoint ${id} already has the settings of release ${to}`]);
      return 0;
    }
    printLines([`To keep the settings of release ${to}, set in the program:`, ...programChange(changes)]);
    if (!yes) {
      say("Nothing was changed. Add --yes to change the endpoint now, which makes a new release.");
      return 0;
    }
    const updated = await sayWhileWaiting(
      () => `still changing endpoint ${id}`,
      () => client.endpoints.update(id, changes),
    );
    const differing = notTaken(changes, updated);
    if (differing.length > 0) {
      throw new Error(
        `the service accepted the change of endpoint ${id}, but does not show it: ${differing.join(", ")} still differs from ` +
          `release ${to}. Look at it with npx pulumi-serverless-gpu history ${id} before you try again`,
      );
    }
    say(
      `endpoint ${id} has the settings of release ${to} again. Change the program as well: otherwise, the next pulumi up ` +
        "undoes the rollback.",
    );
    return 0;
  });
}

function programChange(changes: EndpointChanges): string[] {
  const { env, ...others } = changes;
  const lines = Object.entries(others).map(([field, value]) =>
    HIDDEN.includes(field)
      ? `  ${field}: …, // its previous value, which is not shown`
      : `  ${field}: ${JSON.stringify(value)},`,
  );
  const variables = Object.entries(env ?? {}).map(([name, value]) =>
    value === null ? `  // env: without ${name}` : `  // env: ${name} with its previous value, which is not shown`,
  );
  return [...lines, ...variables];
}
