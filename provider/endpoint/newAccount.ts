import type { Endpoint } from "../../sdk/endpoints/record";
import type { Listed } from "../../sdk/records/listed";
import { connect } from "../connection/connection";
import type { ProviderClient } from "../connection/providerClient";
import { cancelled } from "../engine/cancellation";
import { messageOf } from "../engine/errors";
import { log } from "../engine/log";
import { UNKNOWN } from "../engine/properties";
import { LIST_MAX_AGE_MS, refuseMove } from "../ownership/location";
import { freshAutomaticName } from "../ownership/owners";
import type { Situation } from "../records/recordKind";
import { hasOwnContainer } from "./ownContainer";

/**
 * The list that all resources moving in this run share, because the engine calls `diff` for one
 * resource after another.
 */
const lists = new WeakMap<ProviderClient, Promise<Listed<Endpoint>>>();

/**
 * Verifies that a resource can move to the new account, with one list of that account's endpoints.
 * The engine deletes the endpoint in the previous account first, so problems must be found before
 * that. The contract offers no way to read an account's templates or quota, so a template also
 * counts as known if an endpoint of the new account uses it, or if the program changes
 * `templateId`.
 * @throws MOVE_REFUSED if the key is not accepted, the name is taken, or the template is not known
 * in the new account
 */
export async function checkNewAccount({ id, outputs, inputs }: Situation): Promise<void> {
  const { client, settings } = connect();
  const refuse = (reason: string, cause?: unknown) => refuseMove("endpoint", id, outputs, reason, cause);
  const list = lists.get(client) ?? client.endpoints.listReadable();
  lists.set(client, list);
  const { records: endpoints, unreadable, mayBeCut } = await list.catch((error) => refuse(messageOf(error), error));

  // The replacement is a new resource, so it gets a new automatic name.
  const newName = inputs.__automaticName === undefined ? inputs.name : freshAutomaticName();
  const namesake = [...endpoints, ...unreadable].find(({ name }) => name === newName);
  if (inputs.adoptId === undefined && namesake) {
    refuse(`an endpoint with its name already exists there (${namesake.id ?? "its record has no id"})`);
  }
  const { adoptId } = inputs;
  const isShown = adoptId === undefined || adoptId === UNKNOWN || endpoints.some((each) => each.id === adoptId);
  if (!isShown && !(mayBeCut && (await client.endpoints.find(String(adoptId))))) {
    refuse(`the program's adoptId (${inputs.adoptId}) does not exist there. Remove adoptId from the program`);
  }
  const isTemplateKnown =
    settings.allowAccountChange ||
    hasOwnContainer(inputs) ||
    inputs.templateId !== outputs.templateId ||
    endpoints.some((each) => each.templateId === inputs.templateId);
  if (!isTemplateKnown) {
    await findTemplate(client, String(inputs.templateId)).catch((error: unknown) =>
      refuse(
        "its templateId is from the previous account, no endpoint of the new account uses this template, and " +
          `${messageOf(error)}. Set the id of a template of the new account. If the template exists in both (it may be ` +
          "public), set SERVERLESS_GPU_ALLOW_ACCOUNT_CHANGE=true for this run",
        error,
      ),
    );
  }
  const inUse = endpoints.reduce((sum, { workersMax }) => sum + workersMax, 0);
  log(
    String(outputs.name),
    `endpoint ${id} moves to another account: it is deleted in the previous account, and a new one is created. The ` +
      `endpoints of the new account may already use ${inUse} workers; the new endpoint counts against the same quota`,
  );
}

/**
 * Returns the template.
 * @throws Error unless the account shows it, which proves nothing: a public template is in no
 * account's list, and some services list no templates
 */
async function findTemplate({ templates }: ProviderClient, id: string): Promise<unknown> {
  const onMissing = (): never => {
    throw new Error("the new account does not show it");
  };
  return (await templates.find(id, { maxAgeMs: LIST_MAX_AGE_MS, onMissing, signal: cancelled })) ?? onMissing();
}
