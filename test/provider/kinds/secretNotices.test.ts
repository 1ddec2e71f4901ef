import { logTo } from "../../../provider/engine/log";
import { UNKNOWN } from "../../../provider/engine/properties";
import { SECRET_KIND } from "../../../provider/kinds/secretKind";
import { recordHandlers } from "../../../provider/records/recordHandlers";

test.each([
  [{ name: "hf" }, "hf"],
  [{ automaticName: "token" }, "token"],
  [{ name: UNKNOWN, automaticName: "token" }, "secret"],
  [{ adoptId: "sec-1" }, "sec-1"],
])("a %p warning from check begins with %s", async (naming, start) => {
  const lines: string[] = [];
  logTo((name, text) => lines.push(`${name}: ${text}`));
  const inputs = { ...naming, valueEnv: "NOT_SET_ANYWHERE", valueVersion: 1 };
  await recordHandlers(SECRET_KIND).check({}, inputs);
  expect(lines).toEqual([expect.stringMatching(`^${start}: warning: valueEnv: the environment variable`)]);
});
