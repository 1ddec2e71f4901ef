import { createHash } from "node:crypto";
import { BusinessError } from "../model/businessError";
import { randomId } from "../model/random";
import { createRecords, type StoredRecords } from "../records/records";
import type { EmulatorClock } from "../time/virtualClock";
import type {
  RegistryAuthChange,
  RegistryAuthFields,
  RegistryAuthSeed,
  StoredRegistryAuth,
} from "./registryAuthFields";

/** The parts of the account that registry credentials use. */
interface RegistryAuthSurroundings {
  readonly clock: EmulatorClock;
  readonly random: () => number;
  readonly changed: () => void;
  /** Returns descriptions of the endpoints and pods that use the credential to pull their image. */
  readonly usersOf: (id: string) => readonly string[];
  /** Called after a credential has been deleted. */
  readonly onDeleted: (id: string) => void;
}

/** The registry credentials of the account. */
export interface RegistryAuths extends StoredRecords<StoredRegistryAuth, RegistryAuthSeed, RegistryAuthFields> {
  /**
   * Replaces the user name and password in the same way as `updateRegistryAuth`.
   * @throws BusinessError if the change violates a rule of the service
   */
  update(input: RegistryAuthChange): StoredRegistryAuth;
  /**
   * Deletes a credential in the same way as `deleteRegistryAuth`.
   * @throws BusinessError if it does not exist or is in use
   */
  delete(id: string | null | undefined): void;
  /** Returns `true` if the credential has this user name and password. */
  matches(id: string, username: string, password: string): boolean;
}

export function createRegistryAuths({ usersOf, onDeleted, ...around }: RegistryAuthSurroundings): RegistryAuths {
  const records = createRecords<StoredRegistryAuth>({
    ...around,
    noun: "registry credential",
    newId: () => `cm${randomId(around.random, 23)}`,
  });

  function credentialWithId(id: string | null | undefined): StoredRegistryAuth {
    const record = records.find(id ?? "");
    if (!record) throw new BusinessError(`Registry auth "${id}" not found`, "registry.unknown-id");
    return record;
  }

  function remove(id: string): boolean {
    const isRemoved = records.remove(id);
    if (isRemoved) onDeleted(id);
    return isRemoved;
  }

  return {
    ...records,
    create({ id, name, username, password }) {
      assertNotEmpty({ name, username, password });
      if (records.list().some((record) => record.name === name)) {
        throw new BusinessError("Registry auth name must be unique", "registry.unique-name");
      }
      return records.add({ name, digest: digestOf(username, password) }, id ?? undefined);
    },
    update({ id, username, password }) {
      const record = credentialWithId(id);
      assertNotEmpty({ username, password });
      return records.change(record, { digest: digestOf(username, password) });
    },
    delete(id) {
      const record = credentialWithId(id);
      const [user] = usersOf(record.id);
      if (user) throw new BusinessError(`Registry auth is in use by ${user}`, "registry.in-use", true);
      remove(record.id);
    },
    change(id, { name, username, password }) {
      const record = credentialWithId(id);
      if ((username === undefined) !== (password === undefined)) {
        throw new RangeError("Change username and password together: the emulator stores only their digest.");
      }
      const isRotated = username !== undefined && password !== undefined;
      return records.change(record, {
        ...(name !== undefined && { name }),
        ...(isRotated && { digest: digestOf(username, password) }),
      });
    },
    remove,
    matches: (id, username, password) => records.find(id)?.digest === digestOf(username, password),
  };
}

function assertNotEmpty(fields: Partial<RegistryAuthFields>): void {
  const empty = Object.entries(fields).find(([, value]) => value.trim() === "");
  if (empty) throw new BusinessError(`Registry auth ${empty[0]} must not be empty`, "registry.not-empty");
}

function digestOf(username: string, password: string): string {
  return createHash("sha256")
    .update(JSON.stringify([username, password]))
    .digest("hex");
}
