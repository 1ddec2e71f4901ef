import type { PodIncludes } from "../../sdk/pods/pods";
import { findDataCenters, findGpuTypes } from "./catalogSources";
import { type DataSource, source } from "./dataSource";
import { findEndpoint, findEndpoints } from "./findEndpoint";
import { findSelected, type RecordSelector } from "./findRecord";
import { findSpend } from "./findSpend";

// The plugin loads this file, so it doesn't import any values from Pulumi.

/** Selects the endpoint. */
export interface GetEndpointHealthArgs {
  /** The id of the endpoint. */
  readonly endpointId: string;
}

/** Selects a template by its id or by its exact name. */
export type GetServerlessTemplateArgs = RecordSelector;

/**
 * Selects a network volume by its id or by its exact name. If several volumes have the name, the
 * data center selects one.
 */
export interface GetNetworkVolumeArgs {
  /** The id of the volume. Set either this or `name`. */
  readonly id?: string | undefined;
  /**
   * The exact name of the volume. It must be unique within `dataCenterId` if that is set, and
   * within the account otherwise.
   */
  readonly name?: string | undefined;
  /** The id of the volume's data center. Can only be set together with `name`. @default any */
  readonly dataCenterId?: string | undefined;
}

/** Selects a registry credential by its id or by its exact name. */
export type GetContainerRegistryAuthArgs = RecordSelector;

/** Selects a pod and the additional parts of its record to return. */
export interface GetPodArgs extends PodIncludes {
  /** The id of the pod. */
  readonly podId: string;
}

/** The account's limits. A field is missing if RunPod does not show it. */
export interface AccountLimitsResult {
  /** The maximum sum of `workersMax` over all endpoints (integer). */
  readonly workerQuota?: number | undefined;
  /** The maximum cost of everything that runs in the account, in US dollars per hour. */
  readonly spendLimit?: number | undefined;
  /** The cost of everything that is running now, in US dollars per hour. */
  readonly currentSpend?: number | undefined;
  /** The account's balance in US dollars. */
  readonly balance?: number | undefined;
  /** `true` if the balance is too low to start workers. */
  readonly isUnderBalance?: boolean | undefined;
}

/**
 * All data sources, by name. The plugin's functions and their part of the schema are derived from
 * this table. The functions that programs call are in functions.ts.
 */
export const SOURCES = {
  getEndpoint: source({ find: findEndpoint, resource: "ServerlessEndpoint" }),
  getEndpoints: source({
    find: findEndpoints,
    resource: "ServerlessEndpoint",
    wrapper: "endpoints",
    fromMock: ({ endpoints }) => endpoints ?? [],
  }),
  getEndpointHealth: source({
    find: ({ client }, { endpointId }: GetEndpointHealthArgs) => client.endpoint(endpointId).health(),
  }),
  getServerlessTemplate: source({
    async find({ client }, args: GetServerlessTemplateArgs) {
      const { env, kept: _, ...template } = await findSelected("getServerlessTemplate", client.templates, args);
      return { ...template, envNames: Object.keys(env).sort() };
    },
    resource: "ServerlessTemplate",
  }),
  getServerlessTemplateEnv: source({
    find: async ({ client }, args: GetServerlessTemplateArgs): Promise<Readonly<Record<string, string>>> =>
      (await findSelected("getServerlessTemplateEnv", client.templates, args)).env,
    wrapper: "env",
    secrets: ["env"],
  }),
  getNetworkVolume: source({
    find: ({ client }, { id, name, dataCenterId }: GetNetworkVolumeArgs) =>
      findSelected("getNetworkVolume", client.volumes, { id, name }, (volume) =>
        [undefined, volume.dataCenterId].includes(dataCenterId),
      ),
    resource: "NetworkVolume",
  }),
  getContainerRegistryAuth: source({
    find: ({ client }, args: GetContainerRegistryAuthArgs) =>
      findSelected("getContainerRegistryAuth", client.registryAuths, args),
  }),
  getPod: source({
    async find({ client }, { podId, ...includes }: GetPodArgs) {
      const pod = await client.pods.get(podId, includes);
      return { ...pod, env: pod.env ?? {} };
    },
    secrets: ["env"],
  }),
  getServerlessDiscount: source({
    find: ({ client }) => client.endpoints.getServerlessDiscount(),
    fromMock: (mocked) => (Object.keys(mocked).length > 0 ? mocked : null),
  }),
  getGpuTypes: source({
    find: findGpuTypes,
    wrapper: "gpuTypes",
    fromMock: ({ gpuTypes }) => gpuTypes ?? [],
  }),
  getDataCenters: source({
    find: findDataCenters,
    wrapper: "dataCenters",
    fromMock: ({ dataCenters }) => dataCenters ?? [],
  }),
  getSpend: source({ find: findSpend }),
  getAccountLimits: source({
    async find({ client }) {
      const { raw: _, ...limits } = await client.account.limits();
      // The plugin omits values that are not known.
      const known = Object.entries(limits).filter(([, value]) => value !== null);
      return Object.fromEntries(known) as AccountLimitsResult;
    },
  }),
};

export type SourceName = keyof typeof SOURCES;

/** The type of a data source's arguments. */
export type SourceArgs<Name extends SourceName> =
  (typeof SOURCES)[Name] extends DataSource<infer Args, unknown> ? Args : never;

/** The type of a data source's result. */
export type SourceResult<Name extends SourceName> = Awaited<ReturnType<(typeof SOURCES)[Name]["find"]>>;
