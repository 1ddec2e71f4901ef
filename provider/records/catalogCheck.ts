import type { CatalogView } from "../../sdk/catalog/places";
import { endpointProofs, type Impossible, unlistedNewPools, volumeProofs } from "../../sdk/catalog/proofs";
import { serviceName } from "../../sdk/connection/settings";
import { splitList } from "../../sdk/endpoints/normalForms";
import { InvalidInputError } from "../../sdk/errors/errors";
import type { Volume } from "../../sdk/volumes/volume";
import type { Connection } from "../connection/connection";
import type { ProviderClient } from "../connection/providerClient";
import { cancelled } from "../engine/cancellation";
import { log } from "../engine/log";
import type { Properties } from "../engine/properties";

/**
 * The time limit for the catalog, in milliseconds. The check only helps the user, so a write does
 * not wait longer for it.
 */
const LONGEST_MS = 3_000;

/** The settings that a write changes. */
interface CheckedWrite {
  readonly name: unknown;
  /** The settings before the write, and those in the program. */
  readonly outputs: Properties;
  readonly inputs: Properties;
  /** The settings that this run changes. */
  readonly changed: readonly string[];
}

/** The endpoint settings that the catalog can verify. */
const PLACED = ["gpuIds", "locations", "minCudaVersion", "allowedCudaVersions", "networkVolumeId", "networkVolumeIds"];

/** The catalog, by client. A process serves one run and reads the catalog once. */
const views = new WeakMap<ProviderClient, Promise<CatalogView>>();

/**
 * Refuses an endpoint that the service's catalog proves impossible because of what this run
 * changes. If the catalog does not respond, nothing is checked.
 * @throws InvalidInputError before anything is written
 */
export async function checkEndpoint(
  connection: Connection,
  { name, outputs, inputs, changed }: CheckedWrite,
): Promise<void> {
  const settings = { ...outputs, ...inputs };
  const isConcerned = PLACED.some((field) => changed.includes(field) && text(settings, field) !== "");
  if (!isConcerned || !hasCatalog(connection)) return;
  if (settings.workersMax === 0 || text(settings, "instanceIds") !== "") return;
  const gpuIds = text(settings, "gpuIds");
  const [view, volumeDataCenters] = await Promise.all([
    viewFor(connection),
    placesOf(connection, volumeIdsOf(outputs, inputs)),
  ]);
  const unlisted = changed.includes("gpuIds") ? unlistedNewPools(gpuIds, view) : [];
  if (unlisted.length > 0) {
    log(
      String(name),
      `warning: the service's catalog has no GPU pool ${unlisted.join(", ")}, so it is possible that no worker ever starts`,
    );
  }
  const found = endpointProofs(
    {
      gpuIds,
      locations: text(settings, "locations"),
      volumeDataCenters,
      minCudaVersion: text(settings, "minCudaVersion"),
      allowedCudaVersions: text(settings, "allowedCudaVersions"),
    },
    view,
  );
  refuse(`endpoint "${name}"`, found, changed);
}

/**
 * Returns the ids of the volumes that the endpoint will have. The outputs contain both forms of the
 * setting, so the form in the inputs decides.
 */
function volumeIdsOf(outputs: Properties, inputs: Properties): string[] {
  const from = "networkVolumeId" in inputs || "networkVolumeIds" in inputs ? inputs : outputs;
  return splitList(text(from, "networkVolumeIds") || text(from, "networkVolumeId"));
}

/** Refuses a new network volume that the catalog proves impossible. */
export async function checkVolume(
  connection: Connection,
  { name, outputs, inputs, changed }: CheckedWrite,
): Promise<void> {
  if (!changed.includes("dataCenterId") || !hasCatalog(connection)) return;
  const settings = { ...outputs, ...inputs };
  const { highPerformance } = settings;
  const place = { dataCenterId: text(settings, "dataCenterId"), highPerformance: highPerformance === true };
  refuse(`network volume "${name}"`, volumeProofs(place, await viewFor(connection)), changed);
}

function refuse(what: string, found: readonly Impossible[], changed: readonly string[]): void {
  const blamed = found.filter(({ fields }) => fields.some((field) => changed.includes(field)));
  if (blamed.length === 0) return;
  const problems = blamed.map(({ fields, message }) => ({
    property: fields.find((field) => changed.includes(field)) ?? "",
    message: `${message}${message.endsWith("?") ? "" : "."} This follows from the service's catalog; nothing was written`,
  }));
  throw new InvalidInputError(what, problems);
}

/** Only a named service is known to have a catalog. */
const hasCatalog = ({ settings }: Connection) => serviceName(settings) === "runpod";

const text = (settings: Properties, field: string) => String(settings[field] ?? "");

function viewFor({ client }: Connection): Promise<CatalogView> {
  const known = views.get(client);
  if (known) return known;
  // Loaded lazily, because previews and reads don't need it.
  const { readGpus } = require("../../sdk/catalog/read") as typeof import("../../sdk/catalog/read");
  const options = once();
  const reading = Promise.all([
    readGpus(client.catalog, options).catch(() => undefined),
    client.catalog.dataCenters(options).catch(() => undefined),
  ]).then(([gpus, dataCenters]) => ({ gpus, dataCenters }));
  views.set(client, reading);
  return reading;
}

/** Returns request options that limit the total time for the catalog. */
function once() {
  return {
    timeoutMs: LONGEST_MS,
    maxRetries: 0,
    signal: AbortSignal.any([cancelled, AbortSignal.timeout(LONGEST_MS)]),
  };
}

/**
 * The volumes, by client. They are read once per run, so a volume created in this run may be
 * missing.
 */
const volumes = new WeakMap<ProviderClient, Promise<readonly Volume[]>>();

/** Returns the data centers of volumes; `undefined` if one of them is unknown. */
async function placesOf({ client }: Connection, ids: readonly string[]): Promise<string[] | undefined> {
  if (ids.length === 0) return [];
  const reading =
    volumes.get(client) ??
    client.volumes.listReadable(once()).then(
      ({ records }) => records,
      () => [],
    );
  volumes.set(client, reading);
  const listed = await reading;
  const places = ids.map((id) => listed.find((volume) => volume.id === id)?.dataCenterId.toUpperCase());
  return places.every((place) => place !== undefined) ? (places as string[]) : undefined;
}
