import { isInRange } from "../../cli/doctor/versionRange";

test.each([
  ["20.19.0", ">=20.19", true],
  ["20.18.3", ">=20.19", false],
  ["24.0.0", ">=20.19", true],
  ["v3.216.0", ">=3.216.0 <4", true],
  ["3.215.9", ">=3.216.0 <4", false],
  ["3.1000.0", ">=3.216.0 <4", true],
  ["4.0.0", ">=3.216.0 <4", false],
  ["not a version", ">=3.216.0", false],
  ["3.230.0-alpha.1+dirty", ">=3.230.0", true],
])("%s in %s: %s", (version, range, expected) => {
  expect(isInRange(version, range)).toBe(expected);
});
