import fc from "fast-check";
import * as z from "zod";
import { decodeRecords, type Listed, type NamedRecord, recordById } from "../../../sdk/records/listed";

const KIND = {
  noun: "thing",
  one: "a thing",
  schema: z.looseObject({ id: z.string().min(1), name: z.string(), size: z.number() }),
};

const id = fc.constantFrom<unknown>("a", "b", "c", "", 1, null, undefined);
const sent = fc.oneof(
  { arbitrary: fc.record({ id, name: fc.constantFrom("x", 7), size: fc.constantFrom(1, "large") }), weight: 8 },
  { arbitrary: fc.constantFrom<unknown>(null, "a", 1, [], {}, { id: { id: "a" } }), weight: 1 },
);

/** Returns the record that is found, or the message that says why none can be. */
function outcomeOf(list: Listed<NamedRecord>, wanted: string): unknown {
  try {
    return recordById(KIND, list, wanted);
  } catch (error) {
    return error instanceof Error ? error.message : error;
  }
}

test("searching a list for one record gives the same result as reading the whole list, for any records", () => {
  fc.assert(
    fc.property(fc.array(sent, { maxLength: 6 }), fc.constantFrom("a", "b", "d"), (list, wanted) => {
      const { records, unreadable } = decodeRecords(KIND, { things: list }, "things");
      const read = decodeRecords(KIND, { things: list }, "things");
      expect(outcomeOf(read, wanted)).toEqual(outcomeOf({ records, unreadable }, wanted));
    }),
    { numRuns: 500 },
  );
});

test("searching a list for one record does not read the others", () => {
  let reads = 0;
  const schema = KIND.schema.transform((record) => {
    reads++;
    return record;
  });
  const things = Array.from({ length: 300 }, (_, index) => ({ id: `id-${index}`, name: "x", size: 1 }));
  const list = decodeRecords({ ...KIND, schema }, { things }, "things");
  expect(recordById(KIND, list, "id-7")).toMatchObject({ id: "id-7" });
  expect(recordById(KIND, list, "gone")).toBeUndefined();
  expect(reads).toBe(1);
  expect([list.records.length, list.unreadable.length, list.records.length]).toEqual([300, 0, 300]);
  expect(reads).toBe(301);
});
