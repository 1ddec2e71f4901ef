import type { References } from "../endpoints/endpointRules";
import type { Endpoints } from "../endpoints/endpoints";
import { BusinessError } from "../model/businessError";
import { volumesOf } from "../model/endpointFields";
import type { Pods } from "../pods/pods";
import type { RegistryAuths } from "../registryAuths/registryAuths";
import type { Templates } from "../templates/templates";
import type { Volumes } from "../volumes/volumes";

/** An account's records, which refer to each other. */
export interface AccountRecords {
  readonly endpoints: Endpoints;
  readonly pods: Pods;
  readonly registryAuths: RegistryAuths;
  readonly templates: Templates;
  readonly volumes: Volumes;
}

/**
 * A kind of record. Unless the kind is strict, other records may refer to ids that do not exist.
 */
export type StrictKind = "registryAuths" | "templates" | "volumes";

/** The references between an account's records: what uses a record, and which ids are allowed. */
interface AccountReferences extends References {
  /** Throws a BusinessError if a template cannot use the registry credential. */
  assertRegistryAuth(id: string): void;
  /** Describes what uses a template, for error messages. An error names the first. */
  usersOfTemplate(id: string): string[];
  usersOfVolume(id: string): string[];
  usersOfRegistryAuth(id: string): string[];
  /** Removes a registry credential from the templates that use it. */
  forgetRegistryAuth(id: string): void;
}

/** @param account returns the records, which are created after their references */
export function createReferences(account: () => AccountRecords, strict: ReadonlySet<StrictKind>): AccountReferences {
  const runningPods = () =>
    account()
      .pods.list()
      .filter(({ desiredStatus }) => desiredStatus !== "TERMINATED");

  const exists = (kind: StrictKind, id: string) => canBeNamed(account()[kind], id, strict.has(kind));

  return {
    assertTemplate(id) {
      if (!exists("templates", id)) throw new BusinessError("Unable to find template", "save.unknown-template");
      if (account().templates.find(id)?.isServerless === false) {
        throw new BusinessError("The template is not a serverless template", "save.pod-template");
      }
    },
    assertVolume(id) {
      if (!exists("volumes", id)) throw new BusinessError("Unable to find network volume", "save.unknown-volume");
    },
    dataCenterOf: (id) => account().volumes.find(id)?.dataCenterId,
    assertRegistryAuth(id) {
      if (!exists("registryAuths", id)) {
        throw new BusinessError("Unable to find registry auth", "template.unknown-registry-auth");
      }
    },
    usersOfTemplate(id) {
      const endpoints = account().endpoints.all();
      const users = endpoints.filter(
        ({ record, runtime }) =>
          (record.templateId === id && !record.container) ||
          runtime.pods().some(({ container }) => container.templateId === id),
      );
      const pods = runningPods().filter(({ templateId }) => templateId === id);
      return inWords(users, pods);
    },
    usersOfVolume(id) {
      const users = account()
        .endpoints.all()
        .filter(({ record }) => volumesOf(record).includes(id));
      const pods = runningPods().filter(({ networkVolume }) => networkVolume?.id === id);
      return inWords(users, pods);
    },
    usersOfRegistryAuth(id) {
      const { endpoints, templates } = account();
      const users = endpoints
        .all()
        .filter(({ record }) => templates.find(record.templateId)?.containerRegistryAuthId === id);
      const pods = runningPods().filter(({ containerRegistryAuthId }) => containerRegistryAuthId === id);
      return inWords(users, pods);
    },
    forgetRegistryAuth(id) {
      for (const template of account().templates.list())
        if (template.containerRegistryAuthId === id) account().templates.forgetRegistryAuth(template.id);
    },
  };
}

/** A deleted id is never allowed. An id that never existed is allowed unless the kind is strict. */
function canBeNamed(records: AccountRecords[StrictKind], id: string, isStrict: boolean): boolean {
  return records.find(id) !== undefined || !(isStrict || records.wasRemoved(id));
}

function inWords(
  endpoints: readonly { readonly record: { readonly name: string } }[],
  pods: readonly { readonly name: string }[],
): string[] {
  return [...endpoints.map(({ record }) => `endpoint "${record.name}"`), ...pods.map(({ name }) => `pod "${name}"`)];
}
