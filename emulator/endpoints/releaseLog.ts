import type { EndpointContainer } from "../model/containerFields";
import { type EndpointRecord, volumesOf } from "../model/endpointFields";

/** A field that a release changed. The values are plain, secrets included. */
interface ReleaseChange {
  readonly field: string;
  readonly old: unknown;
  readonly new: unknown;
}

/** A version of an endpoint, as REST v2 lists it. */
export interface EndpointRelease {
  readonly id: string;
  readonly version: number;
  readonly source: "MANUAL";
  readonly buildId: null;
  readonly createdByUserId: string;
  readonly workerCount: number;
  readonly createdAt: string;
  readonly diff: readonly ReleaseChange[];
}

type Fields = Readonly<Record<string, unknown>>;

/** The releases of all endpoints. The data file does not keep them. */
export interface ReleaseLog {
  /** Must be called when an endpoint is created or restored. */
  begin(record: Readonly<EndpointRecord>, now: number): void;
  /**
   * Makes a release if a setting that needs one has changed since the last one. Returns `true` if
   * it did: the endpoint then has its next version.
   */
  release(record: EndpointRecord, now: number): boolean;
  /** Returns the releases of an endpoint, the newest first. */
  of(endpointId: string): readonly EndpointRelease[];
  clear(): void;
}

/** How many releases of an endpoint are kept. */
const MOST_RELEASES = 1_000;

/** @param containerOf returns the container of a template */
export function createReleaseLog(containerOf: (templateId: string) => EndpointContainer): ReleaseLog {
  const releases = new Map<string, { fields: Fields; all: readonly EndpointRelease[] }>();

  return {
    begin(record, now) {
      const fields = releasedFields(record, containerOf);
      releases.set(record.id, { fields, all: [releaseOf(record, [], now)] });
    },
    release(record, now) {
      const known = releases.get(record.id);
      const fields = releasedFields(record, containerOf);
      const diff = differences(known?.fields ?? {}, fields);
      if (diff.length === 0) return false;
      record.version += 1;
      const all = [releaseOf(record, diff, now), ...(known?.all ?? [])].slice(0, MOST_RELEASES);
      releases.set(record.id, { fields, all });
      return true;
    },
    of: (endpointId) => releases.get(endpointId)?.all ?? [],
    clear: () => releases.clear(),
  };
}

function releaseOf(
  { id, version, workersMax }: Readonly<EndpointRecord>,
  diff: readonly ReleaseChange[],
  now: number,
): EndpointRelease {
  return {
    ...{ id: `release-${id}-${version}`, version, source: "MANUAL", buildId: null },
    ...{ createdByUserId: "emulated-user", workerCount: workersMax, createdAt: new Date(now).toISOString(), diff },
  };
}

/**
 * Returns the settings whose change makes a release, by the names that its diff uses: the
 * container, and what decides on which machine a worker runs. Counts, scaling and timeouts act at
 * once.
 */
function releasedFields(
  record: Readonly<EndpointRecord>,
  containerOf: (templateId: string) => EndpointContainer,
): Fields {
  const { templateId, container, gpuIds, gpuCount, minCudaVersion, allowedCudaVersions, instanceIds } = record;
  const { locations, flashBootType } = record;
  const ofTemplate = Object.entries(container ?? containerOf(templateId));
  return {
    ...{ templateId: container ? null : templateId, gpuIds, gpuCount: gpuCount ?? 1, minCudaVersion },
    ...{ allowedCudaVersions, instanceIds, locations, flashBootType, networkVolumes: volumesOf(record) },
    // Copies: a template changes in place.
    ...Object.fromEntries(ofTemplate.map(([field, value]) => [`template.${field}`, structuredClone(value)])),
  };
}

/** Returns the fields that differ. */
function differences(before: Fields, after: Fields): ReleaseChange[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names
    .filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
    .map((field) => ({ field, old: before[field] ?? null, new: after[field] ?? null }));
}
