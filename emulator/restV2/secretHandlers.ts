import { shownByV2 } from "../model/v2Form";
import { readLagMs } from "../records/history";
import { SECRET_FIELDS, type StoredSecret } from "../secrets/secretFields";
import type { Secrets } from "../secrets/secrets";
import type { V2Call } from "./handler";
import { findOrRefuse } from "./problem";

interface SecretBody {
  readonly name: string;
  readonly value: string;
  readonly description?: string;
}

/** Returns the operations on secrets. The list is not paginated. */
export function secretHandlers(secrets: Secrets) {
  const secretOf = (id: string, listLagMs?: number) => findOrRefuse(secrets.list(readLagMs(listLagMs)), id);
  return {
    listSecrets({ listLagMs, query }: V2Call) {
      const name = query.get("name")?.toLowerCase();
      const isWanted = (secret: StoredSecret) => name === undefined || secret.name.toLowerCase() === name;
      return { secrets: secrets.list(listLagMs).filter(isWanted).map(shown) };
    },
    createSecret: ({ body }: V2Call<SecretBody>) => shown(secrets.create(body)),
    getSecret: ({ id, listLagMs }: V2Call) => shown(secretOf(id, listLagMs)),
    updateSecret({ id, body: { value, description } }: V2Call<Partial<SecretBody>>) {
      secretOf(id);
      const changes = { ...(value !== undefined && { value }), ...(description !== undefined && { description }) };
      return shown(secrets.update(id, changes));
    },
    deleteSecret({ id }: V2Call) {
      secrets.delete(secretOf(id).id);
      return undefined;
    },
  };
}

function shown(secret: StoredSecret): object {
  const { id, createdAt, valueLastUpdatedAt } = secret;
  return { id, ...shownByV2(SECRET_FIELDS, secret), createdAt, valueLastUpdatedAt };
}
