import * as z from "zod";
import { DATA_CENTER_ID } from "../contract/limits";
import { countryOf } from "../endpoints/countries";
import { splitList } from "../endpoints/normalForms";
import { InvalidInputError } from "../errors/errors";
import type { CallContext } from "../transport/call";
import { decode } from "../transport/decode";
import { makeCall } from "../transport/makeCall";
import { type RestV2Transport, requestV2 } from "./transport";

/** How long the catalog is kept, in milliseconds. */
const MAX_AGE_MS = 3_600_000;

const catalogSchema = z.looseObject({ dataCenters: z.array(z.looseObject({ id: z.string() })) });

/** The service's data centers, for an API that does not accept countries. */
export interface DataCenters {
  /** Reads the catalog if `locations` contain a country and the catalog has not been read yet. */
  load(locations: string): Promise<void>;
  /**
   * Returns the ids of the data centers that `locations` refer to.
   * @throws InvalidInputError if a country has no data center
   */
  idsOf(locations: string): string[];
}

/** Returns the service's data centers, as listed in its catalog. */
export function createDataCenters(context: CallContext, transport: RestV2Transport): DataCenters {
  let known: readonly string[] = [];
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;

  async function read(): Promise<void> {
    const operation = "the catalog of data centers";
    const name = "listDataCenters";
    const at = context.clock.monotonic();
    const catalog = await makeCall(context, {
      name,
      operation,
      repeatability: "safe",
      attempt: async (attempt) => {
        const request = { name, operation, method: "GET", path: "/catalog/datacenters" } as const;
        return decode(catalogSchema, await requestV2(transport, request, attempt), operation);
      },
    });
    known = catalog.dataCenters.map(({ id }) => id).sort();
    readAt = at;
  }

  return {
    async load(locations) {
      if (splitList(locations).every(isDataCenter)) return;
      if (context.clock.monotonic() - readAt < MAX_AGE_MS) return;
      // Don't use the options of any single caller, because several callers wait for the result.
      reading ??= read().finally(() => {
        reading = undefined;
      });
      await reading;
    },
    idsOf(locations) {
      const ids = splitList(locations).flatMap((part) => (isDataCenter(part) ? [part] : inCountry(part, known)));
      return [...new Set(ids)].sort();
    },
  };
}

function isDataCenter(location: string): boolean {
  return DATA_CENTER_ID.test(location);
}

function inCountry(country: string, known: readonly string[]): string[] {
  const ids = known.filter((id) => countryOf(id) === country);
  if (ids.length > 0) return ids;
  const places = [...new Set(known.flatMap((id) => countryOf(id) ?? []))].sort().join(", ");
  const message =
    `has the country ${country}, in which the catalog of REST v2 has no data center. It has some in ${places}. ` +
    "Use one of these, or the ids of data centers";
  throw new InvalidInputError("the endpoint", [{ property: "locations", message }]);
}
