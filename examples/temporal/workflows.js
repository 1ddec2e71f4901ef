// @ts-nocheck
const { proxyActivities } = require("@temporalio/workflow");

const { submit } = proxyActivities({ startToCloseTimeout: "30 seconds", retry: { maximumAttempts: 1 } });
const { collect } = proxyActivities({ startToCloseTimeout: "24 hours", heartbeatTimeout: "10 seconds" });

/** Runs one input. If `submit` fails, a job may have been submitted: the input is uncertain. */
exports.runInput = async (endpointId, input) => await collect(endpointId, await submit(endpointId, input));
