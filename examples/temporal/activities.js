// @ts-nocheck: the packages of Temporal are installed only for this example.
const { ApplicationFailure, Context } = require("@temporalio/activity");
const { createClient } = require("pulumi-serverless-gpu/sdk");

const client = createClient(); // reads the key and the service from the environment

/** Submits a job. Has a single attempt, because a second one could start a second job. */
async function submit(endpointId, input) {
  return (await client.endpoint(endpointId).run({ input })).id;
}

/** Waits for a job. If the worker is killed, its heartbeats end, and another worker waits. */
async function collect(endpointId, jobId) {
  const context = Context.current();
  const beat = setInterval(() => context.heartbeat(), 2_000);
  try {
    return (await client.endpoint(endpointId).job(jobId).wait({ signal: context.cancellationSignal })).output;
  } catch (error) {
    if (error.disposition === "stop") throw ApplicationFailure.create({ message: error.message, nonRetryable: true });
    throw error;
  } finally {
    clearInterval(beat);
  }
}

module.exports = { submit, collect };
