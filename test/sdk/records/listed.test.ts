import fc from "fast-check";
import * as z from "zod";
import {
  decodeRecords,
  isSameName,
  type Listed,
  type NamedRecord,
  type ReadableKind,
  recordById,
} from "../../../sdk/records/listed";

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

test("reading the records of one name from a list gives the same result as reading the whole list, for any records", () => {
  const kinds: ReadableKind<NamedRecord>[] = [KIND, { ...KIND, ignoresCase: true as const }, withSuffixes()];
  const named = fc.record({
    id: fc.constantFrom<unknown>("a", "b", undefined),
    name: fc.constantFrom<unknown>("x", "X", "x-fb", "y", "", 7, undefined),
    size: fc.constantFrom<unknown>(1, "large"),
  });
  fc.assert(
    fc.property(
      fc.constantFrom(...kinds),
      fc.array(fc.oneof({ arbitrary: named, weight: 8 }, { arbitrary: sent, weight: 1 }), { maxLength: 6 }),
      fc.constantFrom("x", "X", "y", ""),
      (kind, list, wanted) => {
        const { records, unreadable } = decodeRecords(kind, { things: list }, "things");
        const part = decodeRecords(kind, { things: list }, "things").named?.(wanted);
        const isNamesake = ({ name }: { readonly name?: string | undefined }) => isSameName(kind, name, wanted);
        expect(part?.records).toEqual(records.filter(isNamesake));
        const mayBe = unreadable.filter((each) => each.name === undefined || isNamesake(each));
        expect(part?.unreadable).toEqual(mayBe);
      },
    ),
    { numRuns: 1000 },
  );
});

/** Returns a kind whose service adds a suffix to names. */
function withSuffixes(): ReadableKind<NamedRecord> {
  const normalizeName = (name: string) => name.replace(/(-fb)+$/, "");
  const schema = KIND.schema.transform((record) => ({ ...record, name: normalizeName(record.name) }));
  return { ...KIND, normalizeName, schema };
}

test("searching a list for one record does not decode the others", () => {
  let reads = 0;
  const schema = KIND.schema.transform((record) => {
    reads++;
    return record;
  });
  const things = Array.from({ length: 300 }, (_, index) => ({ id: `id-${index}`, name: "x", size: 1 }));
  const list = decodeRecords({ ...KIND, schema }, { things }, "things");
  expect(recordById(KIND, list, "id-7")).toMatchObject({ id: "id-7" });
  expect(recordById(KIND, list, "gone")).toBeUndefined();
  expect(list.named?.("other").records).toEqual([]);
  expect(reads).toBe(1);
  expect([list.records.length, list.unreadable.length, list.records.length]).toEqual([300, 0, 300]);
  expect(reads).toBe(301);
});
