import * as fc from "fast-check";
import { RARE_SETTINGS } from "../../../provider/engine/resourceTypes";
import { withoutUnset, withUnset } from "../../../provider/fields/unset";
import { FIELDS } from "../../../sdk/endpoints/fields";
import { unsetValue } from "../../../sdk/records/fields";

const unset = Object.fromEntries(RARE_SETTINGS.map((name) => [name, unsetValue(FIELDS[name])]));

test("removing unset fields from outputs and restoring them yields the same outputs", () => {
  const values = Object.fromEntries(
    RARE_SETTINGS.map((name) => [name, fc.constantFrom(unset[name], "", 0, 20, {}, { A: "1" }, "12.8")]),
  );
  fc.assert(
    fc.property(fc.record(values), (outputs) => {
      const all = { __account: "service key", gpuIds: "ADA_24", flashBootType: "OFF", ...outputs };
      const kept = withoutUnset(FIELDS, RARE_SETTINGS, all);
      expect(withUnset(FIELDS, RARE_SETTINGS, kept)).toEqual(all);
      expect(kept).toMatchObject({ gpuIds: "ADA_24", flashBootType: "OFF" });
    }),
  );
});

test("an endpoint with a template and no special settings outputs none of these settings", () => {
  expect(withoutUnset(FIELDS, RARE_SETTINGS, { ...unset, imageName: "" })).toEqual({});
});

test("a field that no run has recorded stays absent", () => {
  expect(withUnset(FIELDS, RARE_SETTINGS, { __mustExist: true })).toEqual({ __mustExist: true });
});
