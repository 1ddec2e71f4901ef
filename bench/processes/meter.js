// Loaded into every Node.js process of a Pulumi command (NODE_OPTIONS). When the process ends, it
// writes its processor time in seconds, its largest memory and the heap that it still holds, both
// in megabytes, into the folder of the variable METER_FOLDER.
const { writeFileSync } = require("node:fs");
const path = require("node:path");
const { setFlagsFromString } = require("node:v8");
const { runInNewContext } = require("node:vm");

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc");

const script = process.argv[1] ?? "";
const kind = /cmd[\\/]run\b/.test(script) ? "program" : /language/.test(script) ? "language" : "provider";

process.on("exit", () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  collectGarbage();
  const heldMegabytes = process.memoryUsage().heapUsed / 1e6;
  const figures = { seconds: (userCPUTime + systemCPUTime) / 1e6, megabytes: maxRSS / 1024, heldMegabytes };
  writeFileSync(path.join(process.env.METER_FOLDER ?? ".", `${kind}.${process.pid}`), JSON.stringify(figures));
});
// The engine interrupts its plugins.
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit());
