import { COMPLIANCE_OF, type Level, PLACES, POOL_OF, type World } from "./world";

/** A question about stock, in the words of either interface. */
export interface Question {
  readonly count?: number | undefined;
  readonly places?: readonly string[] | undefined;
  readonly compliance?: readonly string[] | undefined;
  readonly cudaVersions?: readonly string[] | undefined;
  readonly minCudaVersion?: string | undefined;
}

const LEVELS: readonly Level[] = ["NONE", "LOW", "MEDIUM", "HIGH"];

/** `12.11` is newer than `12.2`. */
function isFrom(version: string, least: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [leastMajor = 0, leastMinor = 0] = least.split(".").map(Number);
  return major > leastMajor || (major === leastMajor && minor >= leastMinor);
}

function hasHost({ cuda }: World, { cudaVersions = [], minCudaVersion }: Question): boolean {
  const free = Object.keys(cuda).filter((version) => cuda[version]);
  if (cudaVersions.length > 0) return free.some((version) => cudaVersions.includes(version));
  return minCudaVersion === undefined || free.some((version) => isFrom(version, minCudaVersion));
}

/** Returns the stock of a type in each data center that has it. */
export function placesOf(world: World, type: string, question: Question = {}): { id: string; level: Level }[] {
  const { count = 1, places, compliance = [] } = question;
  const isNone = count > world.freeTogether || !hasHost(world, question);
  return Object.entries(world.stock[type] ?? {})
    .filter(([id]) => places === undefined || places.includes(id))
    .filter(([id]) => compliance.every((rule) => COMPLIANCE_OF[id]?.includes(rule)))
    .map(([id, level]) => ({ id, level: isNone ? "NONE" : level }));
}

/** Returns the better of all levels. */
export function best(levels: readonly Level[]): Level {
  return LEVELS[Math.max(0, ...levels.map((level) => LEVELS.indexOf(level)))] ?? "NONE";
}

/** The countries of data centers are in no list: REST v2 only filters by them. */
const countryOf = (place: string) => (place.startsWith("US-") ? "US" : (place.split("-")[1] ?? ""));

export type Reply = { readonly status: number; readonly body: unknown };

const refused = (detail: string): Reply => ({ status: 400, body: { title: "Bad Request", status: 400, detail } });

const listed = (text: string | null) => text?.split(",").filter(Boolean);

/** Answers `/catalog/gpus` and `/catalog/gpus/{id}` of REST v2. */
export function gpusReply(world: World, query: URLSearchParams, id?: string): Reply {
  const [include, product] = [query.get("include"), query.get("product")];
  if ((include === null) !== (product === null)) return refused("include and product go together");
  const [cudaVersions, minCudaVersion] = [listed(query.get("cudaVersions")), query.get("minCudaVersion") ?? undefined];
  if (cudaVersions && minCudaVersion) return refused("cudaVersions and minCudaVersion exclude each other");
  const countries = listed(query.get("countryCodes"));
  const places = countries && PLACES.filter((place) => countries.includes(countryOf(place)));
  const question = { count: Number(query.get("count") ?? 1), places, cudaVersions, minCudaVersion };
  const gpus = Object.entries(POOL_OF).flatMap(([type, pool]) => {
    const found = placesOf(world, type, question);
    if (places && found.length === 0) return [];
    const stock = {
      availability: best(found.map(({ level }) => level)),
      ...(found.length > 0 && {
        dataCenters: found.map((place) => ({ id: place.id, name: place.id, availability: place.level })),
      }),
      cudaVersions: Object.entries(world.cuda).map(([version, available]) => ({ version, available })),
    };
    return [{ ...gpuOf(type, pool), ...(include === "AVAILABILITY" && stock) }];
  });
  if (id === undefined) return { status: 200, body: { gpus } };
  const one = gpus.find((gpu) => gpu.id === id);
  return one ? { status: 200, body: one } : { status: 404, body: { title: "Not Found", status: 404 } };
}

function gpuOf(id: string, pool: string | null) {
  return {
    id,
    name: id.replace("NVIDIA ", ""),
    pool,
    manufacturer: "NVIDIA",
    memory: 24,
    secure: true,
    community: false,
    price: { secure: 0.69, community: 0.34, ...(pool !== null && { serverless: 1.12 }) },
    maxCount: { secure: 8, community: 4 },
  };
}

/**
 * Answers `/catalog/datacenters` of REST v2. Its stock is that of every product, not of workers
 * alone.
 */
export function dataCentersReply(world: World, query: URLSearchParams): Reply {
  const dataCenters = PLACES.map((id) => ({
    id,
    name: id,
    region: id.startsWith("US") ? "NORTH_AMERICA" : "EUROPE",
    globalNetwork: true,
    networkVolumeTypes: ["STANDARD"],
    compliance: COMPLIANCE_OF[id],
    ...(query.get("include")?.includes("GPU_AVAILABILITY") && {
      gpuAvailability: Object.keys(world.stock).flatMap((type) =>
        placesOf(world, type, { places: [id] }).map(({ level }) => ({ id: type, name: type, availability: level })),
      ),
    }),
  }));
  return { status: 200, body: { dataCenters } };
}

type Input = Readonly<Record<string, unknown>>;
const strings = (value: unknown) => (Array.isArray(value) ? value.map(String) : undefined);
const capitalized = (level: Level) => level.charAt(0) + level.slice(1).toLowerCase();

function questionOf(input: Input): Question {
  const { gpuCount, dataCenterId, compliance, cudaVersion, allowedCudaVersions, minCudaVersion } = input;
  return {
    count: Number(gpuCount ?? 1),
    places: typeof dataCenterId === "string" && dataCenterId !== "" ? [dataCenterId] : undefined,
    compliance: strings(compliance),
    cudaVersions: typeof cudaVersion === "string" ? [cudaVersion] : strings(allowedCudaVersions),
    minCudaVersion: typeof minCudaVersion === "string" ? minCudaVersion : undefined,
  };
}

/** The fields of GraphQL that need no account. Fields with arguments are functions. */
export function graphqlCatalog(world: World) {
  const lowestPrice = (type: string) => (args: Input) => {
    const found = placesOf(world, type, questionOf((args.input ?? {}) as Input));
    return {
      stockStatus: capitalized(best(found.map(({ level }) => level))),
      uninterruptablePrice: 0.69,
      minimumBidPrice: 0.3,
      minVcpu: 4,
      minMemory: 16,
      maxUnreservedGpuCount: 8,
      availableGpuCounts: [1, 2, 4],
      rentedCount: 3,
      totalCount: 40,
      gpuTypeDatacenters: found.map(({ id, level }) => ({
        dataCenterId: id,
        supportNetworkVolumes: true,
        availability: level === "NONE" ? "UNAVAILABLE" : "AVAILABLE",
      })),
      gpuTypeCudaVersions: Object.entries(world.cuda).map(([cudaVersion, isFree]) => ({
        cudaVersion,
        availability: isFree ? "AVAILABLE" : "UNAVAILABLE",
      })),
    };
  };
  const gpuType = (id: string) => ({
    id,
    displayName: id,
    manufacturer: "Nvidia",
    memoryInGb: 24,
    cudaCores: 9000,
    secureCloud: true,
    communityCloud: false,
    securePrice: 0.69,
    communityPrice: 0.34,
    secureSpotPrice: 0.3,
    communitySpotPrice: 0.2,
    maxGpuCount: 8,
    maxGpuCountSecureCloud: 8,
    maxGpuCountCommunityCloud: 4,
    lowestPrice: lowestPrice(id),
  });
  return {
    gpuTypes: ({ input }: { input?: { id?: string; ids?: string[] } }) =>
      Object.keys(POOL_OF)
        .filter((id) => (input?.id === undefined || input.id === id) && (input?.ids?.includes(id) ?? true))
        .map(gpuType),
    dataCenters: PLACES.map((id) => ({
      id,
      name: id,
      location: countryOf(id),
      region: "EUROPE",
      listed: true,
      storageSupport: true,
      globalNetwork: true,
      compliance: COMPLIANCE_OF[id],
      gpuAvailability: ({ input }: { input?: Input }) =>
        Object.keys(world.stock).flatMap((type) =>
          placesOf(world, type, { ...questionOf(input ?? {}), places: [id] }).map(({ level }) => ({
            id: `${id}-${type}`,
            gpuTypeId: type,
            gpuTypeDisplayName: type,
            displayName: type,
            available: level !== "NONE",
            stockStatus: capitalized(level),
          })),
        ),
      cpuAvailability: [],
    })),
    cpuFlavors: [],
    serverlessGpuPools: [...new Set(Object.values(POOL_OF))].flatMap((pool) =>
      pool === null ? [] : [{ id: pool, gpuTypeIds: Object.keys(POOL_OF).filter((id) => POOL_OF[id] === pool) }],
    ),
  };
}
