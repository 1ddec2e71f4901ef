import { type AccountLimits, accountUse, workerPrice } from "../catalog/accountLimits";
import { endpointKind } from "../endpoints/endpointKind";
import { createEndpoints } from "../endpoints/endpoints";
import type { EndpointRecord } from "../model/endpointFields";
import { placesOf } from "../model/places";
import type { LevelOf } from "../model/stock";
import { createPods } from "../pods/pods";
import { registryAuthKind } from "../registryAuths/registryAuthKind";
import { createRegistryAuths } from "../registryAuths/registryAuths";
import { secretKind } from "../secrets/secretKind";
import { createSecrets } from "../secrets/secrets";
import { templateKind } from "../templates/templateKind";
import { createTemplates, type TemplateOptions } from "../templates/templates";
import { volumeKind } from "../volumes/volumeKind";
import { createVolumes } from "../volumes/volumes";
import type { RuntimeContext } from "../workers/context";
import { createEnvironments } from "../workers/workerEnv";
import { type AccountRecords, createReferences, type StrictKind } from "./references";

/**
 * The parts of the emulator that an account uses. The account adds what workers need to know about
 * templates.
 */
export type AccountContext = Omit<RuntimeContext, "containerOf" | "environments" | "placesOf" | "released">;

/** The account rules that options can change. */
export interface AccountOptions {
  readonly limits: Readonly<AccountLimits>;
  readonly templates: TemplateOptions;
  /** The data centers that support network volumes. */
  readonly volumeDataCenters: readonly string[];
  /** The data centers in the catalog. */
  readonly dataCenters: readonly string[];
  /** Returns the stock of a GPU type. */
  readonly levelOf: LevelOf;
}

/**
 * Creates the kinds of records of an account and connects them. Seeds, the data file and the
 * control API are derived from the kinds.
 */
export function createKinds(
  given: AccountContext,
  options: AccountOptions,
  strict: ReadonlySet<StrictKind>,
  limits: Readonly<AccountLimits>,
) {
  const { profile } = given;
  const { dataCenters, levelOf } = options;
  const references = createReferences(() => records, strict);
  const secrets = createSecrets(given);
  const context: RuntimeContext = {
    ...given,
    environments: createEnvironments(secrets.retrieve, profile),
    containerOf: (id) => records.templates.containerOf(id),
    placesOf(record) {
      if (exceedsSpend(record)) return [];
      return placesOf(record, { dataCenters, dataCenterOf: references.dataCenterOf, levelOf });
    },
    released(id) {
      records.templates.released(id);
      // Workers that the spend limit was holding back may start now.
      if (limits.spendLimit !== undefined) given.clock.schedule(0, endpoints.reconcile);
    },
  };
  const endpoints = createEndpoints({
    context,
    references,
    workerQuota: () => limits.workerQuota,
    onRemoved: (id) => records.templates.removeThatOf(id),
  });
  const exceedsSpend: (record: EndpointRecord) => boolean = (record) =>
    limits.spendLimit !== undefined && accountUse(endpoints, limits).spend + workerPrice(record) > limits.spendLimit;
  const templates = createTemplates(
    {
      ...given,
      usersOf: references.usersOfTemplate,
      assertRegistryAuth: references.assertRegistryAuth,
      onRollOut: endpoints.rollOut,
    },
    options.templates,
  );
  const volumes = createVolumes({
    ...given,
    usersOf: references.usersOfVolume,
    dataCenters: options.volumeDataCenters,
  });
  const registryAuths = createRegistryAuths({
    ...given,
    usersOf: references.usersOfRegistryAuth,
    onDeleted: references.forgetRegistryAuth,
  });
  const pods = createPods(given.changed, ({ templateId }) => {
    if (templateId !== undefined) templates.released(templateId);
  });
  const records: AccountRecords = { endpoints, pods, registryAuths, templates, volumes };
  // A kind comes after the kinds that it refers to, because seeds and data files create them in
  // this order.
  const kinds = {
    secrets: secretKind(secrets),
    registryAuths: registryAuthKind(registryAuths),
    templates: templateKind(templates),
    volumes: volumeKind(volumes),
    endpoints: endpointKind(endpoints),
  };
  return { ...records, secrets, kinds };
}

/** The kinds of record of an account. */
export type Kinds = ReturnType<typeof createKinds>["kinds"];
