import { nodeProblem } from "./nodeVersion";

// Each entry point of the package imports this file first: other modules fail on an old Node.js
// with messages that do not help, such as "File is not defined".
const problem = nodeProblem(process.versions.node);
if (problem !== undefined) throw new Error(`pulumi-serverless-gpu: ${problem}`);
