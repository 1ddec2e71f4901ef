import type { References } from "../endpoints/endpointRules";
import type { Endpoints } from "../endpoints/endpoints";
import { BusinessError } from "../model/businessError";
import { volumesOf } from "../model/endpointFields";
import type { Pods } from "../pods/pods";
import type { RegistryAuths } from "../registryAuths/registryAuths";
import type { Templates } from "../templates/templates";
import type { Volumes } from "../volumes/volumes";

/** The records of an account, which refer to one another. */
export interface AccountRecords {
  readonly endpoints: Endpoints;
  readonly pods: Pods;
  readonly registryAuths: RegistryAuths;
  readonly templates: Templates;
  readonly volumes: Volumes;
}

/** A kind of record. Others may invent its ids unless it is strict. */
export type StrictKind = "registryAuths" | "templates" | "volumes";

/** The references between the records of an account: who uses what, and which ids are allowed. */
export interface AccountReferences extends References {
  /** Throws a BusinessError if a template cannot name the registry credential. */
  assertRegistryAuth(id: string): void;
  /** Returns the users of a template in words, the first of which a refusal names. */
  usersOfTemplate(id: string): string[];
  usersOfVolume(id: string): string[];
  usersOfRegistryAuth(id: string): string[];
  /** Removes a registry credential from the templates that name it. */
  forgetRegistryAuth(id: string): void;
}

/** @param account returns the records, which are created after their references */
export function createReferences(account: () => AccountRecords, strict: ReadonlySet<StrictKind>): AccountReferences {
  const runningPods = () =>
    account()
      .pods.list()
      .filter(({ desiredStatus }) => desiredStatus !== "TERMINATED");

  /**
   * Nobody can name what was deleted. What never existed can be named unless the kind is strict.
   */
  function exists(kind: StrictKind, id: string): boolean {
    const records = account()[kind];
    return records.find(id) !== undefined || !(strict.has(kind) || records.wasRemoved(id));
  }

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
      return [...users.map(({ record }) => `endpoint "${record.name}"`), ...pods.map((pod) => `pod "${pod.name}"`)];
    },
    usersOfVolume(id) {
      const users = account()
        .endpoints.all()
        .filter(({ record }) => volumesOf(record).includes(id));
      const pods = runningPods().filter(({ networkVolume }) => networkVolume?.id === id);
      return [...users.map(({ record }) => `endpoint "${record.name}"`), ...pods.map((pod) => `pod "${pod.name}"`)];
    },
    usersOfRegistryAuth(id) {
      const { endpoints, templates } = account();
      const users = endpoints
        .all()
        .filter(({ record }) => templates.find(record.templateId)?.containerRegistryAuthId === id);
      const pods = runningPods().filter(({ containerRegistryAuthId }) => containerRegistryAuthId === id);
      return [...users.map(({ record }) => `endpoint "${record.name}"`), ...pods.map((pod) => `pod "${pod.name}"`)];
    },
    forgetRegistryAuth(id) {
      for (const template of account().templates.list())
        if (template.containerRegistryAuthId === id) account().templates.forgetRegistryAuth(template.id);
    },
  };
}
