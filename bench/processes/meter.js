// Loaded into every Node.js process of a Pulumi command (NODE_OPTIONS). When the process ends, it writes its processor time
// in seconds and its largest memory in megabytes into the folder of the variable METER_FOLDER.
const { writeFileSync } = require("node:fs");
const path = require("node:path");

const script = process.argv[1] ?? "";
const kind = /cmd[\\/]run\b/.test(script) ? "program" : /language/.test(script) ? "language" : "provider";

process.on("exit", () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  const figures = { seconds: (userCPUTime + systemCPUTime) / 1e6, megabytes: maxRSS / 1024 };
  writeFileSync(path.join(process.env.METER_FOLDER ?? ".", `${kind}.${process.pid}`), JSON.stringify(figures));
});
// The engine interrupts its plugins.
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit());
