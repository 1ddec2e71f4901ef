import { COMMANDS, FIXED, FLEETS, goalOf, KEPT, KEPT_GOAL, play } from "../../bench/requests";

/** The same as in the benchmark, for the number that takes no time. */
const COUNT = 20;

const CASES = (["graphql", "v2"] as const).flatMap((api) =>
  Object.values(FLEETS).map((fleet) => [fleet.what, api, fleet] as const),
);

// Never by seconds: the counts are of virtual time, and the same on any machine.
test.each(
  CASES,
)(`no command on ${COUNT} endpoints with %s over %s exceeds its goal for requests`, async (_, api, fleet) => {
  const measured = await play(api, fleet, COUNT);
  const exceeded = COMMANDS.flatMap((command) => {
    const { requests, operations } = measured[command];
    const goal = goalOf(api, command, COUNT);
    return requests <= goal ? [] : [{ command, requests, goal, operations }];
  });
  expect(exceeded).toEqual([]);
  for (const command of COMMANDS) expect(measured[command].refused).toBeLessThanOrEqual(1);
});

test(`destroying ${COUNT} endpoints over GraphQL takes one extra request per endpoint if the service does not delete their templates itself`, async () => {
  const { requests, refused, operations } = (await play("graphql", KEPT, COUNT)).destroy;
  expect(operations).toMatchObject({ saveEndpoint: COUNT, deleteEndpoint: COUNT, deleteTemplate: COUNT });
  expect(requests).toBeLessThanOrEqual(KEPT_GOAL * COUNT + FIXED);
  expect(refused).toBeLessThanOrEqual(1);
});
