#!/usr/bin/env node
// Prepares the Pulumi engine and describes it in one line. The progress goes to standard error.
require("../requireInstalled");

const { describeEngine, ensurePulumi } = require("./ensurePulumi");

ensurePulumi().then(
  (engine) => console.log(describeEngine(engine)),
  (error) => {
    console.error(error.message);
    process.exitCode = 1;
  },
);
