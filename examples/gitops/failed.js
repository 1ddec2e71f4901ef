/**
 * Reads the JSON of `pulumi stack history` from stdin. If the last update of the stack did not
 * succeed and was of this commit, prints when it was. If a commit is not known, it counts as this
 * one. Ticks that were limited to some endpoints do not count, because they try nothing else again.
 */
const { readFileSync } = require("node:fs");

const [, , commit = ""] = process.argv;

/**
 * @type {{ kind: string, result: string, message?: string, startTime: string, environment?:
 * Record<string, string> }[]}
 */
const history = JSON.parse(readFileSync(0, "utf8"));
const last = history.find(({ kind, message }) => kind === "update" && message !== "pipeline.sh tick");
const head = last?.environment?.["git.head"] ?? "";
const isOther = commit !== "" && head !== "" && head !== commit;
if (last && last.result !== "succeeded" && !isOther) console.log(last.startTime);
