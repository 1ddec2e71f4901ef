import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";

const FOLDER = path.resolve(__dirname, "../../examples/job-client");

test("job-client submits, waits, streams, retries, cancels, purges and checks the health", async () => {
  const { stdout, stderr } = await promisify(execFile)("npm", ["start", "--silent"], { cwd: FOLDER });
  expect(stdout.trim().split("\n")).toEqual([
    "submitted: known to the service for 24 hours at most",
    'waited: "Once upon a time"',
    'in one go: "Once upon a time"',
    "streamed: Once, upon, a, time",
    'failed: {"error_type":"Error","error_message":"ran out of ideas"}',
    'retried: "Once upon a time"',
    "cancelled: CANCELLED",
    "purged: 2",
    "health: 1 in progress, 0 in queue, 1 worker running",
    "gone: CANCELLED",
  ]);
  expect(stderr).toMatch(/^ {2}run #1: 200$/m);
});
