import { nodeProblem } from "./nodeVersion";

// Every entry point of the package imports this file first, because on an old Node.js, other
// modules fail with unhelpful messages such as "File is not defined".
const problem = nodeProblem(process.versions.node);
if (problem !== undefined) throw new Error(`pulumi-serverless-gpu: ${problem}`);
