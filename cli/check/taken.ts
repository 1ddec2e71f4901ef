import { pick } from "../../provider/engine/properties";
import type { Endpoint } from "../../sdk/endpoints/record";
import type { Answers, NotLookedUp } from "./lookUps";
import { overlaid, type Planned, type Side } from "./preview";

/**
 * Fills in the account's settings for the endpoints that the change adopts or imports. Unknown
 * settings stay unknown.
 */
export function withTaken(planned: readonly Planned[], answers: Answers, missed: NotLookedUp[]): Planned[] {
  return planned.map((each) => {
    const { kind, name, takes, after, declared } = each;
    if (kind !== "endpoint" || !takes || !after) return each;
    const found = recordOf(each, answers.endpoints);
    if (typeof found === "string") {
      missed.push({ what: `the endpoint that ${name} takes over`, why: found });
      return each;
    }
    const taken: Side = { id: found.id, values: { ...found }, dependencies: {} };
    const inputs = pick({ ...after.values }, (field) => declared.includes(field));
    return { ...each, taken, after: { ...after, id: found.id, values: overlaid(taken.values, inputs) } };
  });
}

/** Returns the record that a resource takes over, or why it is unknown. */
function recordOf(
  { takes, hasDefaultProvider }: Planned,
  endpoints: readonly Endpoint[] | undefined,
): Endpoint | string {
  const { id, name } = takes ?? {};
  if (!hasDefaultProvider) return "its provider uses another account";
  if (!endpoints) return "the endpoints of the account are not known";
  if (id === undefined && name === undefined) return "its id is not known before up";
  const found = endpoints.filter((each) => (id === undefined ? each.name === name : each.id === id));
  const [first] = found;
  if (first && found.length === 1) return first;
  const which = id === undefined ? `with the name ${name}` : id;
  return `the account has ${first ? `${found.length} endpoints` : "no endpoint"} ${which}`;
}
