// Locks the file argv[2], and prints "locked" or the reason of a refusal. Then reads commands:
// "busy <ms>" blocks the process, "check" prints "held" or why the lock is lost, "release" ends it.
const { readFileSync } = require("node:fs");
const { createInterface } = require("node:readline");
const { transformSync } = require("@swc/core");

require.extensions[".ts"] = (/** @type {any} */ module, /** @type {string} */ name) => {
  const { code } = transformSync(readFileSync(name, "utf8"), {
    filename: name,
    jsc: { parser: { syntax: "typescript" }, target: "es2022" },
    module: { type: "commonjs" },
  });
  module._compile(code, name);
};
const { lockFile } = require("../../sdk/contract/fileLock");

const say = (/** @type {string} */ text) => process.stdout.write(`${text}\n`);

async function main() {
  const lock = await lockFile(process.argv[2] ?? "");
  say("locked");
  for await (const line of createInterface({ input: process.stdin })) {
    const [command, ms] = line.split(" ");
    if (command === "busy") for (const until = performance.now() + Number(ms); performance.now() < until; );
    if (command === "check") {
      say(
        await lock.check().then(
          () => "held",
          (error) => error.message,
        ),
      );
    }
    if (command === "release") {
      await lock.release();
      say("released");
    }
  }
}

main().catch((error) => {
  say(error.message);
  process.exitCode = 1;
});
