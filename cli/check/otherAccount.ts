import { accountOf, isOtherAccount } from "../../provider/connection/account";
import type { EnvironmentSettings } from "../../sdk/connection/settings";
import type { Answers } from "./lookUps";
import type { Planned, Side } from "./preview";

const MOST_NAMES = 5;

/**
 * Removes the answers about the account if the state's endpoints belong to another account. After a
 * key rotation the state looks the same, but then the account contains the endpoints.
 */
export function ofSameAccount(answers: Answers, planned: readonly Planned[], settings: EnvironmentSettings): Answers {
  const { endpoints, missed } = answers;
  if (!endpoints) return answers;
  const account = accountOf({ ...settings, provider: "" });
  const listed = new Set(endpoints.map(({ id }) => id));
  const isElsewhere = ({ id, values }: Side) =>
    id !== undefined &&
    !listed.has(id) &&
    (values.__account === undefined || isOtherAccount({ ...values }, account, id));
  const names = planned
    .filter(
      ({ kind, hasDefaultProvider, before }) => kind === "endpoint" && hasDefaultProvider && before.some(isElsewhere),
    )
    .map(({ name }) => name);
  if (names.length === 0) return answers;
  const more = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : "";
  const why =
    `the key in the environment is for an account that does not list ${names.slice(0, MOST_NAMES).join(", ")}${more}. ` +
    "Set the key and the URLs that pulumi up uses for this stack";
  return {
    ...answers,
    limits: undefined,
    endpoints: undefined,
    volumes: undefined,
    missed: [...missed, { what: "worker quota, spend limit and network volumes", why }],
  };
}
