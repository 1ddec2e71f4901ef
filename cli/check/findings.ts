import { allowedDataCenters, cudaTest, gpusLeft, type PlacedSettings, poolsIn } from "../../sdk/catalog/places";
import { endpointProofs, unlistedNewPools, volumeProofs } from "../../sdk/catalog/proofs";
import { bestLevel, type CatalogGpu, isAtLeastLevel, type StockLevel } from "../../sdk/catalog/record";
import { catalogPrices, PUBLIC_PRICE_SOURCE, workerPrices } from "../../sdk/catalog/workerPrices";
import { splitList } from "../../sdk/endpoints/normalForms";
import { shownMoney } from "../shownValues";
import { quotaFindings, spendFindings } from "./accountFindings";
import type { Costs } from "./cost";
import type { Finding } from "./finding";
import { stayingFindings } from "./leaving";
import type { Answers, NotLookedUp } from "./lookUps";
import { type EndpointSide, endpointSide, holdersAfter, type Planned, type Side, textIn } from "./preview";

/** Returns all findings about the change. */
export function findingsOf(
  planned: readonly Planned[],
  answers: Answers,
  costs: Costs,
  missed: NotLookedUp[],
): Finding[] {
  const holders = holdersAfter(planned);
  const changed = planned.filter(({ op, after }) => after && op !== "same");
  return [
    ...changed.flatMap((each) =>
      (each.kind === "volume"
        ? volumeFindings(each, answers)
        : endpointFindings(each, { planned, answers, missed })
      ).map((finding) => ({ ...finding, urn: each.urn })),
    ),
    ...quotaFindings(planned, answers, missed),
    ...spendFindings(costs, answers, missed),
    ...planned.flatMap((each) => dataFindings(each, holders)),
    ...planned.flatMap((each) => stayingFindings(each, holders)),
  ];
}

function volumeFindings({ name, op, after }: Planned, answers: Answers): Finding[] {
  if (op === "update" || !after) return [];
  const { dataCenterId, highPerformance } = after.values;
  const place = { dataCenterId: textIn(dataCenterId) ?? "", highPerformance: highPerformance === true };
  return volumeProofs(place, { dataCenters: answers.dataCenters }).map(({ kind, message }) => ({
    level: "impossible",
    kind,
    resource: name,
    message,
  }));
}

interface Circumstances {
  readonly planned: readonly Planned[];
  readonly answers: Answers;
  readonly missed: NotLookedUp[];
}

function endpointFindings(resource: Planned, { planned, answers, missed }: Circumstances): Finding[] {
  const { name, after } = resource;
  const side = after && endpointSide(after);
  // Without workers, nothing needs to start.
  if (!side || side.workersMax === 0 || side.instanceIds !== "") return [];
  const { gpuIds, locations, minCudaVersion, allowedCudaVersions, gpuCount } = side;
  const unknown = Object.entries({ gpuIds, locations, minCudaVersion, allowedCudaVersions, gpuCount })
    .filter(([, value]) => value === undefined)
    .map(([field]) => field);
  if (unknown.length > 0) missed.push({ what: `GPUs of ${name}`, why: `${unknown.join(", ")} not known before up` });
  if (gpuIds === undefined || locations === undefined || gpuCount === undefined) return [];
  if (minCudaVersion === undefined || allowedCudaVersions === undefined) return [];
  const [anyGpus] = answers.gpus.values();
  // Pools and locations do not depend on the number of GPUs.
  const catalog = { gpus: answers.gpus.get(gpuCount) ?? anyGpus, dataCenters: answers.dataCenters };
  const unlisted = unlistedNewPools(gpuIds, catalog);
  const volumeDataCenters = volumePlaces(side, planned, answers);
  if (volumeDataCenters === undefined)
    missed.push({ what: `data centers of the volumes of ${name}`, why: "not known" });
  const settings = { gpuIds, locations, minCudaVersion, allowedCudaVersions, volumeDataCenters };
  const touched = touchedBy(resource, side);
  const proofs = endpointProofs(settings, catalog).filter(({ fields }) => fields.some((field) => touched.has(field)));
  if (proofs.length > 0)
    return proofs.map(({ kind, message }) => ({ level: "impossible", kind, resource: name, message }));
  if (touched.size === 0) return [];
  if (unlisted.length > 0) return [unlistedFinding(name, unlisted)];
  const gpus = answers.gpus.get(gpuCount);
  if (gpus) return stockFindings(name, settings, gpus, answers);
  if (anyGpus)
    missed.push({ what: `stock of the GPUs of ${name}`, why: `it was not asked for ${gpuCount} GPUs a worker` });
  return [];
}

/** A pool may be newer than this version and than the catalog, so it is not impossible. */
function unlistedFinding(resource: string, pools: readonly string[]): Finding {
  const message = `the catalog has no GPU pool ${pools.join(", ")}, and this version does not know it either, so it is possible that no worker ever starts`;
  return { level: "unlikely", kind: "pool", resource, message };
}

/** The settings that determine where workers can start. */
const PLACED = ["gpuIds", "gpuCount", "locations", "minCudaVersion", "allowedCudaVersions"] as const;
const VOLUMES = ["networkVolumeId", "networkVolumeIds"] as const;

/**
 * Returns the settings changed here that determine whether workers can start. If no worker had to
 * start before, returns all of them.
 */
function touchedBy({ op, before, taken, after }: Planned, next: EndpointSide): ReadonlySet<string> {
  const kept = op === "update" ? before.find(({ id }) => id === after?.id) : undefined;
  const record = taken ?? kept;
  const old = record && endpointSide(record);
  if (!old || old.workersMax === 0) return new Set([...PLACED, ...VOLUMES]);
  const isRaised = (field: "workersMin" | "workersMax") => !isAtMost(next[field], old[field]);
  return new Set([
    ...PLACED.filter((field) => !isSameList(next[field], old[field])),
    ...(isSameList(next.volumeIds, old.volumeIds) ? [] : VOLUMES),
    ...(["workersMin", "workersMax"] as const).filter(isRaised),
  ]);
}

const isAtMost = (one: number | undefined, other: number | undefined) =>
  one !== undefined && other !== undefined && one <= other;

/**
 * Returns `true` if both lists contain the same parts in any order. Unknown values count as
 * different.
 */
function isSameList(one: string | number | undefined, other: string | number | undefined): boolean {
  const parts = (value: string | number) => [...new Set(splitList(String(value)))].sort().join();
  return one !== undefined && other !== undefined && parts(one) === parts(other);
}

/**
 * Returns the data centers of an endpoint's network volumes, whether they belong to the program or
 * the account. Returns `undefined` if any of them is unknown.
 */
function volumePlaces(
  { volumeIds, volumeUrns }: EndpointSide,
  planned: readonly Planned[],
  { volumes }: Answers,
): string[] | undefined {
  const ofProgram = (isIt: (each: Planned) => boolean) =>
    textIn(planned.find((each) => each.kind === "volume" && isIt(each))?.after?.values.dataCenterId);
  const places =
    volumeIds === undefined
      ? volumeUrns.map((urn) => ofProgram((each) => each.urn === urn))
      : splitList(volumeIds).map(
          (id) => ofProgram(({ before }) => before.some((each) => each.id === id)) ?? volumes?.get(id),
        );
  if (volumeIds === undefined && places.length === 0) return undefined;
  const known = places.filter((place) => place !== undefined && place !== "") as string[];
  return known.length === places.length ? [...new Set(known)] : undefined;
}

/** Returns the ids of the volumes that the program uses but does not declare. */
export function foreignVolumes(planned: readonly Planned[]): string[] {
  const own = planned.filter(({ kind }) => kind === "volume").flatMap(({ before }) => before.map(({ id }) => id));
  const sides = planned.flatMap(({ kind, op, after }) =>
    kind === "endpoint" && op !== "same" && after ? [after] : [],
  );
  return sides.flatMap((side) => splitList(endpointSide(side).volumeIds ?? "")).filter((id) => !own.includes(id));
}

/** The maximum number of alternatives to suggest. */
const MOST_BETTER = 3;

/**
 * Returns a warning, with better alternatives, if stock is low for an endpoint's GPUs in the
 * locations it allows.
 */
function stockFindings(
  name: string,
  settings: PlacedSettings,
  gpus: readonly CatalogGpu[],
  { dataCenters = [], source, readAt }: Answers,
): Finding[] {
  const { gpuIds, locations, volumeDataCenters = [] } = settings;
  const inPlaces = locations !== "" || volumeDataCenters.length > 0;
  if (inPlaces && dataCenters.length === 0) return [];
  const allowed = allowedDataCenters(locations, dataCenters).filter(
    (id) => volumeDataCenters.length === 0 || volumeDataCenters.includes(id),
  );
  const accepts = cudaTest(settings.minCudaVersion, settings.allowedCudaVersions);
  const levelOf = (gpu: CatalogGpu) => levelIn(gpu, inPlaces ? allowed : undefined, accepts);
  const left = gpusLeft(gpuIds, gpus);
  if (left.length === 0) return [];
  const level = bestLevel(left.map(levelOf));
  if (isAtLeastLevel(level, "Medium")) return [];
  const least = Math.min(...left.map(({ memoryInGb = 0 }) => memoryInGb));
  const others = gpus.filter(
    ({ pool, memoryInGb = 0 }) => pool != null && !poolsIn(gpuIds).includes(pool) && memoryInGb >= least,
  );
  const prices = [catalogPrices({ gpus }, source), PUBLIC_PRICE_SOURCE];
  const better = [...new Set(others.flatMap(({ pool }) => pool ?? []))]
    .map((pool) => {
      const types = others.filter((gpu) => gpu.pool === pool);
      const [worker] = workerPrices({ gpuIds: pool, gpuCount: 1, instanceIds: "" }, prices);
      return { pool, level: bestLevel(types.map(levelOf)), price: worker?.perHour };
    })
    .filter((each) => isAtLeastLevel(each.level, "Medium"))
    .sort((one, other) => (one.price ?? Number.POSITIVE_INFINITY) - (other.price ?? Number.POSITIVE_INFINITY))
    .slice(0, MOST_BETTER)
    .map((each) => `${each.pool} (${each.level}${each.price === undefined ? "" : `, ${shownMoney(each.price)}/h`})`);
  const where = inPlaces ? ` in ${allowed.join(", ")}` : "";
  const instead = better.length > 0 ? `. Better there: ${better.join(", ")}` : "";
  const message =
    `the stock of ${poolsIn(gpuIds).join(", ")}${where} is ${level} (${source}, read at ${readAt.toISOString()}; ` +
    `an estimate, no reservation)${instead}`;
  return [{ level: "unlikely", kind: "stock", resource: name, message }];
}

/**
 * Returns the best stock level of a GPU type in the data centers, for the CUDA versions that fit.
 */
function levelIn(
  { stock, dataCenters, cudaVersions = [] }: CatalogGpu,
  allowed: readonly string[] | undefined,
  accepts: (version: string) => boolean,
): StockLevel {
  const fitting = cudaVersions.filter(({ version }) => accepts(version));
  if (cudaVersions.length > 0 && !fitting.some(({ isAvailable }) => isAvailable)) return "None";
  if (!allowed) return stock;
  return bestLevel(dataCenters.filter(({ id }) => allowed.includes(id)).map((place) => place.stock));
}

/**
 * Returns a finding for each network volume whose data the change deletes. Volumes that another
 * resource takes over are not reported.
 */
function dataFindings({ kind, name, urn, op, before }: Planned, holders: ReadonlyMap<string, Planned>): Finding[] {
  if (kind !== "volume") return [];
  const isGone = ({ id, isRetained }: Side) =>
    !isRetained && (id === undefined ? op === "delete" || op === "replace" : !holders.has(id));
  const [word, verb] = op === "replace" ? ["volume-replaced", "replaces"] : ["volume-deleted", "deletes"];
  return before.filter(isGone).map(({ id, values }) => ({
    level: "data",
    kind: word,
    resource: name,
    urn,
    message:
      `the change ${verb} the network volume ${id ?? ""} (${textIn(values.name) ?? name}, ` +
      `${String(values.size ?? "?")} GB in ${textIn(values.dataCenterId) ?? "?"}), and all data on it is lost`,
  }));
}
