import type { PriceSource } from "../../sdk/catalog/workerPrices";
import type { EnvironmentSettings } from "../../sdk/connection/settings";
import { costsOf, priceSources } from "../check/cost";
import { lookUp } from "../check/lookUps";
import type { Planned } from "../check/preview";
import type { AccountRecord } from "./records";

/** The monthly cost of a record, in US dollars; `undefined` if unknown. */
export interface MonthlyCost {
  /** The cost with `workersMin` workers, or the cost of a volume. */
  readonly atRest: number | undefined;
  /** The cost with `workersMax` workers all the time. */
  readonly fullScale: number | undefined;
}

const HOURS_OF_A_MONTH = 730;

/** The published price of a network volume in US dollars per GB and month, up to and above 1 TB. */
const VOLUME_PRICE = { first: 0.07, above: 0.05, from: 1000 } as const;

const NOTHING: MonthlyCost = { atRest: 0, fullScale: 0 };

/** Returns the monthly cost of each record, by id. */
export async function monthlyCosts(
  records: readonly AccountRecord[],
  connection: EnvironmentSettings,
  given: PriceSource | undefined,
): Promise<ReadonlyMap<string, MonthlyCost>> {
  const planned = records.flatMap(plannedEndpoint);
  const counts = [...new Set(records.flatMap(({ endpoint }) => endpoint?.gpuCount ?? []))];
  const answers = await lookUp(connection, {
    gpuCounts: counts,
    cpus: records.some(({ endpoint }) => (endpoint?.instanceIds ?? "") !== ""),
    places: false,
    account: false,
    volumes: false,
  });
  const costs = costsOf(planned, priceSources(answers, given)).endpoints;
  const month = (perHour: number | undefined) => perHour && rounded(perHour * HOURS_OF_A_MONTH);
  const ofEndpoints = costs.map(({ urn, after }) => [
    urn,
    { atRest: month(after?.atRest), fullScale: month(after?.fullScale) },
  ]);
  const others = records.flatMap(({ id, endpoint, sizeInGb }) =>
    endpoint ? [] : [[id, sizeInGb === undefined ? NOTHING : volumeCost(sizeInGb)]],
  );
  return new Map([...ofEndpoints, ...others] as [string, MonthlyCost][]);
}

/** Converts an endpoint to the form that a review uses, with its id as the URN. */
function plannedEndpoint({ id, name, endpoint }: AccountRecord): Planned[] {
  if (!endpoint) return [];
  const after = { id, values: { ...endpoint }, dependencies: {} };
  return [
    {
      kind: "endpoint",
      urn: id,
      name,
      op: "same",
      before: [],
      after,
      isRetained: false,
      declared: [],
      hasDefaultProvider: true,
    },
  ];
}

function volumeCost(gb: number): MonthlyCost {
  const { first, above, from } = VOLUME_PRICE;
  const cost = rounded(Math.min(gb, from) * first + Math.max(0, gb - from) * above);
  return { atRest: cost, fullScale: cost };
}

const rounded = (dollars: number) => Number(dollars.toFixed(2));
