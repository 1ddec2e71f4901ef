import * as pulumi from "@pulumi/pulumi";
import { appliedOnly, awaitedOnly } from "../../../provider/dynamic/awaited";

/** Compares in JavaScript, which has no types that refuse it. */
const isLess = (one: unknown, other: number) => (one as number) < other;

test("a comparison of a promise, or of one of its values, throws, and the awaited value does not", async () => {
  const found = awaitedOnly("getSpend", Promise.resolve({ amount: 3 }), ["amount"]);
  const message = "getSpend returns a promise, which has no amount: write (await getSpend(…)).amount";
  expect(() => isLess(found, 400)).toThrow(message);
  expect(() => (found as unknown as { amount: number }).amount).toThrow(message);
  expect(isLess((await found).amount, 400)).toBe(true);
});

test("a comparison of an output, or of one of its values, throws, and apply does not", async () => {
  const found = appliedOnly("getSpendOutput", pulumi.output({ amount: 3 }), ["amount"]);
  const message = "amount of getSpendOutput is an output, not a number yet: use it within apply";
  expect(() => isLess(found, 400)).toThrow(message);
  expect(() => isLess(found.amount, 400)).toThrow(message);
  const within = found.amount.apply((amount) => isLess(amount, 400));
  expect(await new Promise((resolve) => within.apply(resolve))).toBe(true);
});
