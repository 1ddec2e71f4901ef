// @ts-nocheck
const { NativeConnection, Worker } = require("@temporalio/worker");

async function main() {
  const connection = await NativeConnection.connect({ address: process.env.TEMPORAL_ADDRESS ?? "127.0.0.1:7233" });
  const worker = await Worker.create({
    connection,
    taskQueue: "batches",
    workflowsPath: require.resolve("./workflows.js"),
    activities: require("./activities.js"),
    // At most 50 jobs are uncertain after a kill.
    maxConcurrentActivityTaskExecutions: 50,
  });
  await worker.run();
}

main();
