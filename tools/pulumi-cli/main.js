#!/usr/bin/env node
// Prepares the Pulumi engine and says in one line which it is and why; the progress goes to standard error.
const { describeEngine, ensurePulumi } = require("./ensurePulumi");

ensurePulumi().then(
  (engine) => console.log(describeEngine(engine)),
  (error) => {
    console.error(error.message);
    process.exitCode = 1;
  },
);
