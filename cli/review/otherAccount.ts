import { accountOf, isOtherAccount } from "../../provider/connection/account";
import type { EnvironmentSettings } from "../../sdk/config";
import type { Answers } from "./lookUps";
import type { Planned } from "./preview";

/**
 * Returns the answers without those about the account, if state has its endpoints in another one. A
 * rotated key looks the same in state, but then the account has the endpoints.
 */
export function ofSameAccount(answers: Answers, planned: readonly Planned[], settings: EnvironmentSettings): Answers {
  const { endpoints, missed } = answers;
  if (!endpoints) return answers;
  const account = accountOf({ ...settings, provider: "" });
  const listed = new Set(endpoints.map(({ id }) => id));
  const elsewhere = planned.filter(
    ({ kind, hasDefaultProvider, before }) =>
      kind === "endpoint" &&
      hasDefaultProvider &&
      before.some(
        ({ id, values }) => id !== undefined && !listed.has(id) && isOtherAccount({ ...values }, account, id),
      ),
  );
  if (elsewhere.length === 0) return answers;
  const names = elsewhere.map(({ name }) => name).join(", ");
  const why =
    `state has ${names} at another service or with another key than the environment, whose account does not list them. Set the ` +
    "key and the URLs that pulumi up uses for this stack";
  return {
    ...{ ...answers, limits: undefined, endpoints: undefined, volumes: undefined },
    missed: [...missed, { what: "worker quota, spend limit and network volumes", why }],
  };
}
