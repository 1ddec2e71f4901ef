import { redact } from "../../../sdk/errors/secretText";

describe("a storage secret of megabytes", () => {
  test.each([
    ["plain", "a".repeat(20_000_000)],
    ["escaped", "\\n".repeat(10_000_000)],
    ["never closed", "\\\\".repeat(5_000_000)],
  ])("%s: is redacted in time that grows linearly with its length", (_, value) => {
    const startedAt = performance.now();
    expect(redact(`{"accessSecret": "${value}", "a": 1}`)).toBe('{"accessSecret": "[redacted]", "a": 1}');
    expect(redact("accessSecret".repeat(500_000))).toHaveLength(6_000_000);
    // A machine may be ten times slower.
    expect(performance.now() - startedAt).toBeLessThan(10_000);
  });
});
