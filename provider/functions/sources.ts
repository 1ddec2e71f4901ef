import type { PodIncludes } from "../../sdk/pods/pods";
import { findDataCenters, findGpuTypes } from "./catalogSources";
import { type DataSource, source } from "./dataSource";
import { findEndpoint, findEndpoints } from "./findEndpoint";
import { findSelected, type RecordSelector } from "./findRecord";

// The plugin loads this file, so it imports no values from Pulumi.

/** Selects the endpoint. */
export interface GetEndpointHealthArgs {
  /** Id of the endpoint. */
  readonly endpointId: string;
}

/** Selects a template by its id or by its exact name. */
export type GetServerlessTemplateArgs = RecordSelector;

/** Selects a network volume by its id, or by its exact name and, if needed, its data center. */
export interface GetNetworkVolumeArgs {
  /** Id of the volume. Set either this or `name`. */
  readonly id?: string | undefined;
  /** Exact name of the volume. Only one volume may have it, in the data center if one is given. */
  readonly name?: string | undefined;
  /** Id of the data center. Only together with `name`. @default any */
  readonly dataCenterId?: string | undefined;
}

/** Selects a registry credential by its id or by its exact name. */
export type GetContainerRegistryAuthArgs = RecordSelector;

/** Selects a pod, and the additional parts of its record. */
export interface GetPodArgs extends PodIncludes {
  /** Id of the pod. */
  readonly podId: string;
}

/** The limits of the account. A field is missing if the service does not show it. */
export interface AccountLimitsResult {
  /** The largest sum of `workersMax` over all endpoints (integer). */
  readonly workerQuota?: number | undefined;
  /** The largest cost of everything that runs, in US dollars an hour. */
  readonly spendLimit?: number | undefined;
  /** The cost of what runs now, in US dollars an hour. */
  readonly currentSpend?: number | undefined;
  /** The balance in US dollars. */
  readonly balance?: number | undefined;
  /** `true` if the balance is too low for workers to start. */
  readonly isUnderBalance?: boolean | undefined;
}

/**
 * All data sources by their names. The plugin's functions and their part of the schema are derived
 * from this table. The functions for programs are in functions.ts.
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
  getAccountLimits: source({
    async find({ client }) {
      const { raw: _, ...limits } = await client.account.limits();
      // The plugin leaves out what is not known.
      const known = Object.entries(limits).filter(([, value]) => value !== null);
      return Object.fromEntries(known) as AccountLimitsResult;
    },
  }),
};

export type SourceName = keyof typeof SOURCES;

/** The arguments of a data source. */
export type SourceArgs<Name extends SourceName> =
  (typeof SOURCES)[Name] extends DataSource<infer Args, unknown> ? Args : never;

/** What a data source finds. */
export type SourceResult<Name extends SourceName> = Awaited<ReturnType<(typeof SOURCES)[Name]["find"]>>;
