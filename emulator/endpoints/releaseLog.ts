import type { EndpointContainer } from "../model/containerFields";
import { type EndpointRecord, volumesOf } from "../model/endpointFields";

/** A field that a release changed. Values are in plain text, including secrets. */
interface ReleaseChange {
  readonly field: string;
  readonly old: unknown;
  readonly new: unknown;
}

/** A version of an endpoint, as listed by REST v2. */
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

/** The releases of all endpoints. They are not saved in the data file. */
export interface ReleaseLog {
  /** Must be called when an endpoint is created or restored. */
  begin(record: Readonly<EndpointRecord>, now: number): void;
  /**
   * Creates a release if a relevant setting has changed since the last one. Returns `true` if a
   * release was created, in which case the endpoint gets a new version.
   * @param hasNewTemplate `true` if the template itself changed. Otherwise the template counts as
   * unchanged even if it was deleted, which creates no release.
   */
  release(record: EndpointRecord, now: number, hasNewTemplate?: boolean): boolean;
  /** Returns an endpoint's releases, newest first. */
  of(endpointId: string): readonly EndpointRelease[];
  clear(): void;
}

/** How many releases are kept per endpoint. */
const MOST_RELEASES = 1_000;

/** @param containerOf returns a template's container */
export function createReleaseLog(containerOf: (templateId: string) => EndpointContainer): ReleaseLog {
  const releases = new Map<string, { fields: Fields; all: readonly EndpointRelease[] }>();

  return {
    begin(record, now) {
      const fields = releasedFields(record, containerOf);
      releases.set(record.id, { fields, all: [releaseOf(record, [], now)] });
    },
    release(record, now, hasNewTemplate = false) {
      const known = releases.get(record.id);
      const current = releasedFields(record, containerOf);
      const keepsTemplate = !hasNewTemplate && !record.container && known?.fields.templateId === record.templateId;
      const fields = keepsTemplate ? { ...current, ...templateFields(known.fields) } : current;
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
    id: `release-${id}-${version}`,
    version,
    source: "MANUAL",
    buildId: null,
    createdByUserId: "emulated-user",
    workerCount: workersMax,
    createdAt: new Date(now).toISOString(),
    diff,
  };
}

/**
 * Returns the settings whose change creates a release, by the names used in its diff: the
 * container, and the settings that determine a worker's machine. Worker counts, scaling and
 * timeouts take effect immediately instead.
 */
function releasedFields(
  record: Readonly<EndpointRecord>,
  containerOf: (templateId: string) => EndpointContainer,
): Fields {
  const { templateId, container, gpuIds, gpuCount, minCudaVersion, allowedCudaVersions, instanceIds } = record;
  const { locations, flashBootType } = record;
  const ofTemplate = Object.entries(container ?? containerOf(templateId));
  return {
    templateId: container ? null : templateId,
    gpuIds,
    gpuCount: gpuCount ?? 1,
    minCudaVersion,
    allowedCudaVersions,
    instanceIds,
    locations,
    flashBootType,
    networkVolumes: volumesOf(record),
    // Copy the fields, because a template is modified in place.
    ...Object.fromEntries(ofTemplate.map(([field, value]) => [`template.${field}`, structuredClone(value)])),
  };
}

/** Returns the fields of a release that belong to the container. */
function templateFields(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => name.startsWith("template.")));
}

/** Returns the fields that differ. */
function differences(before: Fields, after: Fields): ReleaseChange[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names
    .filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
    .map((field) => ({ field, old: before[field] ?? null, new: after[field] ?? null }));
}
