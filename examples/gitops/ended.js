/**
 * Reads the JSON of `pulumi stack ls`, and prints the environments of requests (`pr-…`) whose last
 * update is at least a number of hours old. Creating a stack counts as one.
 */
const { readFileSync } = require("node:fs");

const hours = Number(process.argv[2]);
if (!(hours >= 0)) throw new Error("usage: pulumi stack ls --json | node ended.js <hours>");

/** @type {{ name: string, lastUpdate?: string }[]} */
const stacks = JSON.parse(readFileSync(0, "utf8"));
for (const { name, lastUpdate } of stacks) {
  const own = name.split("/").at(-1) ?? "";
  const isOld = lastUpdate !== undefined && Date.now() - Date.parse(lastUpdate) >= hours * 3_600_000;
  if (/^pr-\d+$/.test(own) && isOld) console.log(own);
}
