import { BusinessError } from "../model/businessError";
import { randomId } from "../model/random";
import { problemsOf } from "../model/shapes";
import { v2Properties } from "../model/v2Form";
import { createRecords, type StoredRecords } from "../records/records";
import type { EmulatorClock } from "../time/virtualClock";
import { SECRET_FIELDS, type SecretFields, type SecretSeed, type StoredSecret } from "./secretFields";

/** The parts of the account that secrets use. */
interface SecretSurroundings {
  readonly clock: EmulatorClock;
  readonly random: () => number;
  readonly changed: () => void;
}

/** The secrets of the account. */
export interface Secrets extends StoredRecords<StoredSecret, SecretSeed, SecretFields> {
  /**
   * Writes the value and then the description, as REST v2 does.
   * @throws BusinessError if the change violates a rule of the service
   */
  update(id: string, changes: Partial<Pick<SecretFields, "value" | "description">>): StoredSecret;
  /**
   * Deletes a secret, even if variables refer to it.
   * @throws BusinessError if it does not exist
   */
  delete(id: string): void;
  /** Returns the value for a worker that is starting, and records the time. */
  retrieve(name: string): string | undefined;
}

const VALUE_BELOW_BYTES = 16 * 1024 * 1024;
const MOST_DESCRIPTION_BYTES = 65_535;

export function createSecrets(around: SecretSurroundings): Secrets {
  const records = createRecords<StoredSecret>({
    ...around,
    noun: "secret",
    newId: () => randomId(around.random, 25),
  });
  const now = () => new Date(around.clock.now()).toISOString();

  function secretWithId(id: string): StoredSecret {
    const record = records.find(id);
    if (!record) throw new BusinessError(`Secret "${id}" not found`, "secret.unknown-id");
    return record;
  }

  function write(record: StoredSecret, patch: Partial<SecretFields>): StoredSecret {
    const at = now();
    const isRotated = patch.value !== undefined;
    return records.change(record, { ...patch, updatedAt: at, ...(isRotated && { valueLastUpdatedAt: at }) });
  }

  return {
    ...records,
    create({ id, name, value, description }) {
      assertAllowed({ name, value, description: description ?? "" });
      const taken = records.list().find((record) => record.name.toLowerCase() === name.toLowerCase());
      if (taken) {
        const isSame = taken.name === name;
        throw new BusinessError("secret name already in use", isSame ? "secret.unique-name" : "secret.name-case");
      }
      const at = now();
      const times = { createdAt: at, updatedAt: at, valueLastUpdatedAt: at, lastRetrievedAt: null };
      return records.add({ name, value, description: description ?? "", ...times }, id ?? undefined);
    },
    update(id, changes) {
      const record = secretWithId(id);
      assertAllowed(changes);
      return write(record, changes);
    },
    delete(id) {
      secretWithId(id);
      records.remove(id);
    },
    change: (id, patch) => write(secretWithId(id), patch),
    retrieve(name) {
      const record = records.list().find((each) => each.name === name);
      return record && records.change(record, { lastRetrievedAt: now() }).value;
    },
  };
}

const SHAPES = v2Properties(SECRET_FIELDS);

function assertAllowed({ name, value, description }: Partial<SecretFields>): void {
  if (name !== undefined && problemsOf(SHAPES.name ?? {}, name).length > 0) {
    throw new BusinessError("the name of the secret is not valid", "secret.name");
  }
  if (value === "" || (value !== undefined && Buffer.byteLength(value) >= VALUE_BELOW_BYTES)) {
    throw new BusinessError("the value of the secret is empty or too large", "secret.value");
  }
  if (description !== undefined && Buffer.byteLength(description) > MOST_DESCRIPTION_BYTES) {
    throw new BusinessError("the description of the secret is too large", "secret.description");
  }
}
