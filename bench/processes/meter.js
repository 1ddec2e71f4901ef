// Loaded into every Node.js process of a Pulumi command through NODE_OPTIONS. When the process
// exits, it writes its processor time (seconds), its peak memory and the heap in use (megabytes) to
// the folder METER_FOLDER.
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
// The engine ends its plugins with an interrupt.
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit());
