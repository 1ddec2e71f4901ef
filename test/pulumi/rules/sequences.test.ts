import { described, playRandom } from "../../faults/rules/run";

// A few steps of what `npm run test:faults -- faults/rules` plays for hours.
test.each([
  { form: "npm", api: "v2" },
  { form: "plugin", api: "graphql" },
] as const)("a short random sequence with the $form form over $api breaks no rule", async (place) => {
  const outcome = await playRandom(place, 1, 3);
  if (outcome.problems.length > 0) throw new Error(described(outcome));
  expect(outcome.played).toHaveLength(4);
});
