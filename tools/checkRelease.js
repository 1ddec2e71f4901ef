#!/usr/bin/env node
// Checks that a tag, the versions of both packages and the newest heading of CHANGELOG.md agree,
// and that the README installs the package from the registry: node tools/checkRelease.js v1.2.3
const { readFileSync } = require("node:fs");

/**
 * Returns the problems that prevent the release of a tag.
 * @param {string} tag
 * @param {string} version the version in package.json
 * @param {string} versionOfPlugin the version in plugin/package.json
 * @param {string} changelog the content of CHANGELOG.md
 * @param {string} readme the content of README.md
 * @returns {string[]}
 */
function problemsOf(tag, version, versionOfPlugin, changelog, readme) {
  const [, heading = "none"] = /^## (.*)$/m.exec(changelog) ?? [];
  const [named, date] = heading.split(" - ");
  const problems = [];
  if (tag !== `v${version}`) problems.push(`the tag is ${tag}, and package.json has the version ${version}`);
  if (versionOfPlugin !== version)
    problems.push(`package.json has the version ${version}, and plugin/package.json has ${versionOfPlugin}`);
  if (named !== version) problems.push(`the newest heading of CHANGELOG.md is "${heading}", not "${version} - <date>"`);
  else if (!/^\d{4}-\d{2}-\d{2}$/.test(date ?? ""))
    problems.push(`the heading "${heading}" has no date: ${version} - 2030-01-31`);
  if (/\bnpm run new\b/.test(readme))
    problems.push(
      "README.md installs a packed clone (npm run new). Let it install pulumi-serverless-gpu from the registry",
    );
  return problems;
}

const [version, versionOfPlugin] = ["package.json", "plugin/package.json"].map(
  (file) => JSON.parse(readFileSync(file, "utf8")).version,
);
const problems = problemsOf(
  String(process.argv[2]),
  version,
  versionOfPlugin,
  readFileSync("CHANGELOG.md", "utf8"),
  readFileSync("README.md", "utf8"),
);
for (const problem of problems) console.error(`The release is not ready: ${problem}.`);
process.exitCode = problems.length > 0 ? 1 : 0;
