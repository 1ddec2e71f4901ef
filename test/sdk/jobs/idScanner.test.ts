import fc from "fast-check";
import { IdScanner, idIn } from "../../../sdk/jobs/idScanner";

describe("the id in a body", () => {
  test.each([
    ['{"id":"a"}', "a"],
    [' \n{ "id" : "a" , "status":"COMPLETED"}', "a"],
    ['{"input":{"id":"no"},"list":["id",{"id":"no"}],"id":"yes"}', "yes"],
    ['{"id":"\\u0061\\"b"}', 'a"b'],
    ['{"text":"\\\\","id":"a"}', "a"],
    ['{"key":"id","other":"b"}', undefined],
    ['{"id":5}', "5"],
    ['{"id": 12345678901234567890 ,"status":"COMPLETED"}', "12345678901234567890"],
    ['{"id":0,"a":1}', "0"],
    ['{"id":-5}', undefined],
    ['{"id":1.5}', undefined],
    ['{"id":1e3}', undefined],
    ['{"id":null,"a":1}', undefined],
    ['{"id":true}', undefined],
    ['{"id":12', undefined],
    ['{"id":{"id":"no"}}', undefined],
    ['[{"id":"no"}]', undefined],
    ['"id"', undefined],
    ["", undefined],
    ["no JSON", undefined],
    ['{"id":"cut of', undefined],
    ['{"id":"whole","status":"IN_QU', "whole"],
  ])("%s: %p", (body, id) => expect(idIn(body)).toBe(id));

  test("the scanner finds the same id as JSON.parse, wherever the body is split", () => {
    const body = fc.record({
      before: fc.jsonValue({ maxDepth: 2 }),
      id: fc.string({ unit: "binary", minLength: 1 }),
      after: fc.jsonValue({ maxDepth: 2 }),
    });
    fc.assert(
      fc.property(body, fc.boolean(), fc.integer({ min: 1, max: 20 }), (value, isLast, size) => {
        const { id, ...rest } = value;
        const bytes = Buffer.from(JSON.stringify(isLast ? { ...rest, id } : { id, ...rest }));
        const scanner = new IdScanner();
        for (let at = 0; at < bytes.length; at += size) scanner.push(bytes.subarray(at, at + size));
        expect(scanner.id).toBe(id);
      }),
    );
  });

  test("an extremely long id is ignored and not kept", () => {
    expect(idIn(`{"id":"${"x".repeat(5_000)}"}`)).toBeUndefined();
  });
});
