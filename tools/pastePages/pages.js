const fs = require("node:fs");
const path = require("node:path");

const ROOT = path.resolve(__dirname, "../..");

/** @typedef {{ line: number, text: string, title: string | undefined }} Block */

/**
 * What a page requires: a project with a stack that has been applied to an emulator, and files.
 * @type {Readonly<Record<string, { stack: string, files?: Readonly<Record<string, string>> }>>}
 */
const PRESUMED = {
  "docs/how-it-works.md": { stack: "dev" },
  "docs/how-to/adopt-an-account.md": { stack: "dev" },
  "docs/how-to/forecast-costs.md": { stack: "production", files: { "cold-starts.txt": "8.1\n9.4\n31\n" } },
  "docs/how-to/large-fleets.md": { stack: "dev" },
  "docs/how-to/rollouts.md": { stack: "dev" },
  "docs/how-to/schedules.md": { stack: "dev" },
  "docs/how-to/check-changes.md": { stack: "dev" },
  "docs/how-to/use-rest-v2.md": { stack: "dev" },
  "docs/serverless-endpoint.md": { stack: "dev" },
  "docs/troubleshooting.md": { stack: "dev" },
};

const ACCOUNT = "needs an account of the service";

/**
 * Why the blocks of a page that match cannot be pasted here.
 * @type {Readonly<Record<string, readonly [RegExp, string]>>}
 */
const SKIPPED = {
  "bench/README.md": [/npm run bench/, "takes an hour, or needs public providers"],
  "docs/emulator.md": [/verify:service/, ACCOUNT],
  "docs/how-to/accounts-and-keys.md": [/./, ACCOUNT],
  "docs/how-to/choose-a-form.md": [/^pulumi import/, ACCOUNT],
  "docs/how-to/deploy-an-image.md": [/^docker|^pulumi stack init production/m, "needs Docker, or an account"],
  "docs/how-to/explain-waits.md": [/./, "needs an endpoint of yours"],
  "docs/how-to/migrate-from-go-providers.md": [/./, "needs a stack of another provider: test/pulumi/migration.test.ts"],
  "docs/how-to/orphans.md": [/./, ACCOUNT],
  "docs/how-to/other-languages.md": [/^sha256sum|--server/, "needs the archives of a release: npm run test:languages"],
  "docs/how-to/automation-api.md": [/./, "needs a stack of yours"],
  "docs/how-to/pipelines.md": [/^PLAN=/m, "needs a stack of yours"],
  "docs/how-to/rollouts.md": [/greenTemplate/, "examples/blue-green runs the same commands"],
  "docs/how-to/schedules.md": [/^\.\/pipeline|--load \.\/recording/, "needs a deployed repository, or a recorded week"],
  "docs/how-to/record-and-alert.md": [/./, "runs until Ctrl-C, or needs Prometheus"],
  "docs/how-to/check-changes.md": [/--stack production|--allow/, "needs a stack of yours"],
  "docs/how-to/test-with-the-emulator.md": [
    /npm test|^npm run new \.\.\/emulator-image|handler\.py/,
    "needs tests of yours, Docker, or a worker of yours",
  ],
  "docs/how-to/use-rest-v2.md": [/check:spec/, "needs the service's OpenAPI document"],
  "docs/installation-configuration.md": [/^pulumi|doctor/, "needs an account of the service, or a project of yours"],
  "examples/gitops/README.md": [/^helm/, "needs Kubernetes"],
};

/** Commands that are meant to fail, as the page says. */
const FAILS = [/greenTemplate model-broken/, /--max-cost 150\/month/];

/** Commands that run until Ctrl-C. */
const ENDLESS = [/serverless-gpu emulator( --.*)?$/];

/** The exit codes that a command may have. @param {string} command */
function expectedOf(command) {
  if (FAILS.some((each) => each.test(command))) return /^[1-9]\d*$/;
  // 130 is how npx reports Ctrl-C.
  return isEndless(command) ? /^(0|130)$/ : /^0$/;
}

const isEndless = (/** @type {string} */ command) => ENDLESS.some((each) => each.test(command));

/**
 * Returns the blocks of a page that a reader types, and the files that it shows, in order. Of a
 * page with blocks for several languages, such as `for=yaml`, those of the one after the `#`.
 * @param {string} page
 * @returns {Block[]}
 */
function blocksOf(page) {
  const [file = "", chosen = "typescript"] = page.split("#");
  const text = fs.readFileSync(path.join(ROOT, file), "utf8");
  const found = [...text.matchAll(/^```(\w+)(?: title=(\S+))?(?: for=(\w+))?[^\n]*\n(.*?)\n```$/gms)];
  const blocks = found
    .filter(([, , , language = chosen]) => language === chosen)
    .map(({ index, 1: language, 2: title, 4: content = "" }) => ({
      line: text.slice(0, index).split("\n").length + 1,
      language,
      title,
      text: content,
    }));
  return blocks.filter(({ language, title }) => language === "sh" || title !== undefined);
}

/** Returns the blocks to paste, and why the others are left out. @param {string} page */
function planOf(page) {
  const [pattern, reason] = SKIPPED[page] ?? [];
  const isSkipped = (/** @type {Block} */ { text, title }) => title === undefined && pattern?.test(text) === true;
  const blocks = blocksOf(page);
  const pasted = blocks.filter((block) => !isSkipped(block));
  return { pasted: pasted.some(isTyped) ? pasted : [], skipped: blocks.filter(isSkipped), reason };
}

const isTyped = (/** @type {Block} */ { title }) => title === undefined;

/** Returns every page with commands that people wrote, examples and benchmarks included. */
function pagesWithCommands() {
  const docs = /** @type {string[]} */ (fs.readdirSync(path.join(ROOT, "docs"), { recursive: true, encoding: "utf8" }))
    .map((name) => `docs/${name.replaceAll(path.sep, "/")}`)
    .filter((page) => page.endsWith(".md") && !/^docs\/(reference|resources)\//.test(page));
  const examples = fs.readdirSync(path.join(ROOT, "examples")).map((name) => `examples/${name}/README.md`);
  const pages = ["README.md", ...docs.sort(), "docs/tutorial.md#yaml", ...examples.sort(), "bench/README.md"];
  return pages.filter(
    (page) => fs.existsSync(path.join(ROOT, page.split("#")[0] ?? "")) && blocksOf(page).some(isTyped),
  );
}

/**
 * Returns the text to paste before a page that requires a project, if it does.
 * @param {string} page
 * @returns {{ text: string, files: Readonly<Record<string, string>> } | undefined}
 */
function presumedBy(page) {
  const presumed = PRESUMED[page];
  if (!presumed) return undefined;
  const text = [
    "npm run new ../llama",
    "npm run shell ../llama",
    "npx pulumi-serverless-gpu emulator exec -- bash",
    "mkdir state",
    'export PULUMI_BACKEND_URL="file://$PWD/state" PULUMI_CONFIG_PASSPHRASE=llama',
    `pulumi stack init ${presumed.stack}`,
    "pulumi up --yes --skip-preview",
  ].join("\n");
  return { text, files: presumed.files ?? {} };
}

/** Returns the folder in which a page's files belong. @param {string} page @param {string} copy */
function projectOf(page, copy) {
  if (page.startsWith("examples/")) return path.join(copy, path.dirname(page));
  const texts = [presumedBy(page)?.text ?? "", ...blocksOf(page).map(({ text }) => text)];
  const made = texts.map((text) => /^npm run new (\S+)/m.exec(text)?.[1]);
  return path.resolve(copy, made.find((each) => each !== undefined) ?? ".");
}

module.exports = { expectedOf, isEndless, pagesWithCommands, planOf, PRESUMED, presumedBy, projectOf, ROOT, SKIPPED };
