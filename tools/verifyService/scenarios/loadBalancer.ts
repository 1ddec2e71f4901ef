import { body, observed, type Scenario, status } from "./scenario";

/**
 * Tests the load balancer's own refusals. The run's endpoint has a queue, so no request reaches or
 * starts a worker.
 */
export const loadBalancerRefusals: Scenario = {
  name: "refusals of the load balancer",
  steps: [
    {
      send: { lb: "/ping", key: "wrong" },
      findings: [
        [observed("lb.key"), status],
        [observed("lb.unauthorized"), body],
      ],
    },
    { send: { lb: "/ping" }, findings: [[observed("lb.unknown-endpoint"), status]] },
  ],
};
