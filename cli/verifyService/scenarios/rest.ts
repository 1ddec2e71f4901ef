import { keysOf, type Scenario, UNKNOWN_ID } from "./scenario";

export const rest: Scenario = {
  name: "REST",
  async play(site) {
    const wrong = await site.rest(`/pods/${UNKNOWN_ID}`, { key: "wrong" });
    site.note("rest.wrong-key", wrong.status);
    site.note("rest.unauthorized-body", wrong.body);
    const unknown = await site.rest(`/pods/${UNKNOWN_ID}`);
    site.note("rest.bearer", { status: unknown.status });
    site.note("rest.unknown-pod", { status: unknown.status, body: unknown.body });
    const flag = await site.rest(`/pods/${UNKNOWN_ID}?includeMachine=maybe`);
    site.note("rest.bad-flag", { status: flag.status, fields: keysOf(flag.body) });
    site.note("rest.other-paths", (await site.rest("/no-such-path")).status);
  },
};
