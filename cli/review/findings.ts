import { allowedDataCenters, cudaTest, gpusLeft, type PlacedSettings, poolsIn } from "../../sdk/catalog/places";
import { endpointProofs, volumeProofs } from "../../sdk/catalog/proofs";
import { publicPrice } from "../../sdk/catalog/publicPrices";
import { bestLevel, type CatalogGpu, isAtLeastLevel, type StockLevel } from "../../sdk/catalog/record";
import { splitList } from "../../sdk/endpoints/normalForms";
import { shownMoney } from "../forecast/values";
import type { Costs } from "./cost";
import type { Answers, NotLookedUp } from "./lookUps";
import { type EndpointSide, endpointSide, type Planned, textIn } from "./preview";

/** A finding of the review. */
export interface Finding {
  readonly level: "impossible" | "unlikely" | "data";
  /** What was found, in one word. */
  readonly kind: string;
  /** The name of the resource in the program; `undefined` for the account. */
  readonly resource?: string;
  readonly message: string;
}

/** Returns everything that was found about the change. */
export function findingsOf(
  planned: readonly Planned[],
  answers: Answers,
  costs: Costs,
  missed: NotLookedUp[],
): Finding[] {
  const changed = planned.filter(({ op, after }) => after && op !== "same");
  return [
    ...changed.flatMap((each) =>
      each.kind === "volume" ? volumeFindings(each, answers) : endpointFindings(each, planned, answers, missed),
    ),
    ...quotaFindings(planned, answers, missed),
    ...spendFindings(costs, answers, missed),
    ...planned.flatMap(dataFindings),
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

function endpointFindings(
  { name, after }: Planned,
  planned: readonly Planned[],
  answers: Answers,
  missed: NotLookedUp[],
): Finding[] {
  const side = after && endpointSide(after);
  // Without workers, nothing has to start.
  if (!side || side.workersMax === 0 || side.instanceIds !== "") return [];
  const { gpuIds, locations, minCudaVersion, allowedCudaVersions, gpuCount } = side;
  const unknown = Object.entries({ gpuIds, locations, minCudaVersion, allowedCudaVersions, gpuCount })
    .filter(([, value]) => value === undefined)
    .map(([field]) => field);
  if (unknown.length > 0) missed.push({ what: `GPUs of ${name}`, why: `${unknown.join(", ")} not known before up` });
  if (gpuIds === undefined || locations === undefined || gpuCount === undefined) return [];
  if (minCudaVersion === undefined || allowedCudaVersions === undefined) return [];
  const volumeDataCenters = volumePlaces(side, planned, answers);
  if (volumeDataCenters === undefined)
    missed.push({ what: `data centers of the volumes of ${name}`, why: "not known" });
  const settings = { gpuIds, locations, minCudaVersion, allowedCudaVersions, volumeDataCenters };
  const gpus = answers.gpus.get(gpuCount);
  const [anyGpus] = answers.gpus.values();
  if (!gpus && anyGpus)
    missed.push({ what: `stock of the GPUs of ${name}`, why: `it was not asked for ${gpuCount} GPUs a worker` });
  // Pools and places do not depend on the number.
  const proofs = endpointProofs(settings, { gpus: gpus ?? anyGpus, dataCenters: answers.dataCenters });
  if (proofs.length > 0)
    return proofs.map(({ kind, message }) => ({ level: "impossible", kind, resource: name, message }));
  return gpus ? stockFindings(name, settings, gpus, answers) : [];
}

/**
 * Returns the data centers of an endpoint's network volumes: those of the program after the change,
 * and those of the account. `undefined` if one is not known.
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
  return places.every((place) => place !== undefined && place !== "") ? (places as string[]) : undefined;
}

/** Returns the ids of the volumes that the program does not declare. */
export function foreignVolumes(planned: readonly Planned[]): string[] {
  const own = planned.filter(({ kind }) => kind === "volume").flatMap(({ before }) => before.map(({ id }) => id));
  const sides = planned.flatMap(({ kind, op, after }) =>
    kind === "endpoint" && op !== "same" && after ? [after] : [],
  );
  return sides.flatMap((side) => splitList(endpointSide(side).volumeIds ?? "")).filter((id) => !own.includes(id));
}

/** The largest number of alternatives to name. */
const MOST_BETTER = 3;

/**
 * Returns a warning if the stock of an endpoint's GPUs is low where it may run, and what is better.
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
  const better = [...new Set(others.flatMap(({ pool }) => pool ?? []))]
    .map((pool) => {
      const types = others.filter((gpu) => gpu.pool === pool);
      const prices = types.flatMap(({ serverlessPrice }) => serverlessPrice ?? []);
      const price = prices.length > 0 ? Math.max(...prices) : publicPrice(pool);
      return { pool, level: bestLevel(types.map(levelOf)), price };
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

/** Returns the best level of a GPU type in some data centers, for the CUDA versions that fit. */
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
 * Returns whether the sum of `workersMax` of the account would exceed its quota. A change that only
 * lowers it is none.
 */
function quotaFindings(planned: readonly Planned[], { limits, endpoints }: Answers, missed: NotLookedUp[]): Finding[] {
  const all = planned.filter(({ kind }) => kind === "endpoint");
  const own = all.filter(({ hasDefaultProvider }) => hasDefaultProvider);
  if (own.length < all.length)
    missed.push({
      what: `quota and spend limit for ${all
        .filter((each) => !own.includes(each))
        .map(({ name }) => name)
        .join(", ")}`,
      why: "their provider has another account; the review asks the account of the environment",
    });
  if (limits && limits.workerQuota === null)
    missed.push({ what: "the worker quota", why: "the service's answer has no number that is clearly the quota" });
  if (!limits || limits.workerQuota === null || !endpoints) return [];
  const live = new Map(endpoints.map(({ id, workersMax }) => [id, workersMax]));
  const sides = own.map((each) => sharesOf(each, live));
  const uncertain = sides.some(({ after }) => after === undefined);
  const sum = (field: "before" | "after" | "peak") => sides.reduce((total, side) => total + (side[field] ?? 0), 0);
  const ids = sides.flatMap((side) => side.ids);
  const others = endpoints.filter(({ id }) => !ids.includes(id)).reduce((total, each) => total + each.workersMax, 0);
  const isRaised = sides.some(({ before, after = 0 }) => after > before);
  const { workerQuota: quota } = limits;
  const [after, peak] = [sum("after") + others, sum("peak") + others];
  const share = `${sum("after")} by this program${uncertain ? " at least" : ""}, ${others} by the account's other endpoints`;
  if (!isRaised || peak <= quota) return [];
  if (after > quota) {
    const message = `the account's workersMax would be ${after}, above its quota of ${quota}: ${share}. The service refuses the change`;
    return [{ level: "impossible", kind: "quota", message }];
  }
  const message =
    `the account's workersMax is ${after} after the change, within its quota of ${quota} (${share}), but can reach ${peak} on ` +
    "the way, because the engine may raise one endpoint before it lowers or deletes another. If the service refuses that, " +
    "run pulumi up again";
  return [{ level: "unlikely", kind: "quota-on-the-way", message }];
}

/** Returns the workers of one resource before, after and on the way. */
function sharesOf(
  { op, before, after, takes, taken, declared, isRetained }: Planned,
  live: ReadonlyMap<string, number>,
) {
  const left = isRetained ? [] : before.flatMap(({ id }) => id ?? []);
  // A record that is taken over is in the account already.
  const ids = [...new Set([...left, ...(taken?.id === undefined ? [] : [taken.id])])];
  const now = ids.reduce((total, id) => total + (live.get(id) ?? 0), 0);
  const staysAsItIs = op === "same" || (op === "update" && !takes && !declared.includes("workersMax"));
  const isLost = takes !== undefined && taken === undefined;
  const then = !after ? 0 : staysAsItIs ? now : isLost ? undefined : endpointSide(after).workersMax;
  return { ids, before: now, after: then, peak: Math.max(now, then ?? 0) };
}

function spendFindings({ after }: Costs, { limits }: Answers, missed: NotLookedUp[]): Finding[] {
  if (limits?.isUnderBalance) {
    const message = "the account's balance is too low: workers do not start until it is topped up";
    return [{ level: "unlikely", kind: "balance", message }];
  }
  if (limits && limits.spendLimit === null)
    missed.push({ what: "the spend limit", why: "the service's answer has no number that is clearly the limit" });
  if (!limits || limits.spendLimit === null || after.fullScale <= limits.spendLimit) return [];
  const now = limits.currentSpend === null ? "" : ` The account spends ${shownMoney(limits.currentSpend)} now.`;
  const message =
    `the program's full scale costs ${shownMoney(after.fullScale)} an hour, above the account's spend limit of ` +
    `${shownMoney(limits.spendLimit)}: workers above it do not start, and jobs wait without an error.${now}`;
  return [{ level: "unlikely", kind: "spend-limit", message }];
}

/** Returns each network volume whose data the change deletes. */
function dataFindings({ kind, name, op, before, isRetained }: Planned): Finding[] {
  if (kind !== "volume" || isRetained || !["delete", "replace"].includes(op)) return [];
  return before.map(({ id, values }) => ({
    ...{ level: "data", kind: op === "delete" ? "volume-deleted" : "volume-replaced", resource: name },
    message:
      `the change ${op === "delete" ? "deletes" : "replaces"} the network volume ${id ?? ""} (${textIn(values.name) ?? name}, ` +
      `${String(values.size ?? "?")} GB in ${textIn(values.dataCenterId) ?? "?"}), and all data on it goes`,
  }));
}
