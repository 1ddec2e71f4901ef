import { described, playRandom } from "../../faults/rules/run";
import { IS_EVERYWHERE } from "../../support/everywhere";

// A few steps of what `npm run test:faults -- faults/rules` plays for hours.
const PLACES = [
  { form: "plugin", api: "graphql" },
  { form: "npm", api: "v2" },
] as const;

test.each(
  PLACES.slice(0, IS_EVERYWHERE ? 2 : 1),
)("a short random sequence with the $form form over $api breaks no rule", async (place) => {
  const outcome = await playRandom(place, 1, 3);
  if (outcome.problems.length > 0) throw new Error(described(outcome));
  expect(outcome.played).toHaveLength(4);
});
