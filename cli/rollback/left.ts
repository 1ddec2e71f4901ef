import { accountOf } from "../../provider/connection/account";
import { leftAdoption, takeBackAdoption } from "../../provider/rollOut/adopting";
import { namesOf } from "../../provider/rollOut/settings";
import { createClient } from "../../sdk";
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
  printLines([`Before the adoption, endpoint ${id} had other values of: ${namesOf(left.record.former)}`]);
  await refuseAdopted(id);
  if (!yes) {
    say("Nothing was changed. Add --yes to restore them, which may make a new release.");
    return 0;
  }
  const client = createClient(settings);
  try {
    const { isGone, changed } = await sayWhileWaiting(
      () => `still restoring the settings of endpoint ${id}`,
      () => takeBackAdoption({ client, account }, left),
    );
    const except = changed === "" ? "" : `, except for ${changed}, which someone else has changed since`;
    say(`endpoint ${id} ${isGone ? "no longer exists: later runs do not warn about it" : `has them again${except}`}`);
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
