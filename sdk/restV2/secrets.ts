import { SECRET, SECRET_FIELDS } from "../secrets/secret";
import { type SecretCalls, secretSchema } from "../secrets/secrets";
import { v2Body } from "./format";
import { v2Requests } from "./requests";
import type { RestV2Transport } from "./transport";

export const SECRET_LIST = {
  ...SECRET,
  schema: secretSchema("valueLastUpdatedAt"),
  names: {
    list: "listSecrets",
    read: "getSecret",
    create: "createSecret",
    change: "updateSecret",
    delete: "deleteSecret",
  },
  path: "/account/secrets",
  field: "secrets",
};

/**
 * Returns the requests over REST v2. A change is not atomic: it writes the value, then the
 * description.
 */
export function v2SecretCalls(transport: RestV2Transport): SecretCalls {
  const requests = v2Requests(transport, SECRET_LIST);
  return {
    ...requests,
    create(operation, { description, ...settings }, attempt) {
      const given = description === "" ? settings : { ...settings, description };
      return requests.create(operation, v2Body(SECRET_FIELDS, given), attempt);
    },
    change: (operation, { id }, changes, attempt) =>
      requests.patch(operation, id, v2Body(SECRET_FIELDS, changes, ["value", "description"]), attempt),
  };
}
