import { COMMANDS, FLEETS, goalOf, play } from "../../bench/requests";

/** The same as in the benchmark, for the number that takes no time. */
const COUNT = 20;

const CASES = (["graphql", "v2"] as const).flatMap((api) =>
  Object.values(FLEETS).map((fleet) => [fleet.what, api, fleet] as const),
);

// Never by seconds: the counts are of virtual time, and the same on any machine.
test.each(
  CASES,
)(`no command of ${COUNT} endpoints with %s over %s needs more requests than its goal`, async (_, api, fleet) => {
  const measured = await play(api, fleet, COUNT);
  const exceeded = COMMANDS.flatMap((command) => {
    const { requests, operations } = measured[command];
    const goal = goalOf(api, command, COUNT);
    return requests <= goal ? [] : [{ command, requests, goal, operations }];
  });
  expect(exceeded).toEqual([]);
  for (const command of COMMANDS) expect(measured[command].refused).toBeLessThanOrEqual(1);
});
