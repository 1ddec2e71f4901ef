import { leftAdoption } from "../../provider/adoption/left";
import { accountOf } from "../../provider/connection/account";
import { ENDPOINT_KIND } from "../../provider/endpoint/endpointKind";
import { namesOf } from "../../provider/fields/settings";
import { closeNote } from "../../provider/machine/note";
import { restore } from "../../provider/records/write";
import { createClient } from "../../sdk";
import { NotFoundError } from "../../sdk/errors/errors";
import { commandConnection } from "../connection/connection";
import { sayWhileWaiting } from "../connection/readInTime";
import { findProgram } from "../doctor/program";
import { ownResources, readSelectedState } from "../doctor/state";
import { printLines, say } from "../terminal";

/**
 * Describes the changes that an unfinished adoption left on an endpoint. With `yes`, also reverts
 * them. Returns the exit code.
 */
export async function takeBackLeft(id: string, api: string | undefined, yes: boolean): Promise<number> {
  const settings = await commandConnection({ api });
  const account = accountOf({ ...settings, provider: "" });
  const left = leftAdoption(account, id);
  if (!left) {
    throw new Error(
      `this machine has no record of an unfinished adoption of an endpoint with the id ${id} for this key and service, or the ` +
        "run that adopts it is still active. Nothing was changed",
    );
  }
  printLines([`Before the adoption, endpoint ${id} had other values of: ${namesOf(left.note.before)}`]);
  await refuseAdopted(id);
  if (!yes) {
    say("Nothing was changed. Add --yes to restore them, which may make a new release.");
    return 0;
  }
  const client = createClient(settings);
  try {
    const situation = { id, outputs: {}, inputs: {} };
    const undone = await sayWhileWaiting(
      () => `still restoring the settings of endpoint ${id}`,
      () => restore(ENDPOINT_KIND, { client: { ...client, endpoint: client.endpoint }, account }, situation, left.note),
    ).catch((error: unknown) => {
      if (error instanceof NotFoundError) return undefined;
      throw error;
    });
    closeNote(left.record);
    const others = undone?.left ?? [];
    const except = others.length === 0 ? "" : `, except for ${others.join(", ")}, which someone else has changed since`;
    say(`endpoint ${id} ${undone ? `has them again${except}` : "no longer exists: later runs do not warn about it"}`);
    return 0;
  } finally {
    await client.close();
  }
}

/** Fails if the selected stack manages the endpoint, because a later run adopted it. */
async function refuseAdopted(id: string): Promise<void> {
  const resources = ownResources(await readSelectedState(findProgram(process.cwd())));
  if ("problem" in resources || !resources.value.some((each) => each.id === id)) return;
  throw new Error(
    `the selected stack manages endpoint ${id}: a later run has adopted it. Nothing was changed. Run pulumi up, which verifies ` +
      "the endpoint",
  );
}
