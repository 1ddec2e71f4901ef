const { spawn, spawnSync } = require("node:child_process");
const { once } = require("node:events");
const os = require("node:os");
const path = require("node:path");
const { isEndless } = require("./pages");

const SHELLS = { bash: "bash --noprofile --norc -i", zsh: "zsh -f -i" };
const TIMEOUT_MS = 900_000;
const END = "--end-of-command--";
const ENDED = /--end-of-command--(\d+)/;
const ECHO = `echo "${END}$?"\n`;

/**
 * Splits a block into its commands. A reader pastes the whole block, but each command has its own
 * exit code.
 * @param {string} text
 */
function commandsOf(text) {
  /** @type {string[]} */
  const commands = [];
  let open = "";
  for (const line of text.split("\n")) {
    open = open === "" ? line : `${open}\n${line}`;
    const { status, stderr } = spawnSync("bash", ["-n", "-c", open], { encoding: "utf8" });
    if (status !== 0 || stderr.includes("here-document") || line.endsWith("\\")) continue;
    commands.push(open);
    open = "";
  }
  return open === "" ? commands : [...commands, open];
}

/**
 * Opens an interactive shell in a folder.
 * @param {keyof typeof SHELLS} name
 * @param {string} folder
 * @param {string} home
 */
function openShell(name, folder, home) {
  const shell = spawn("script", ["-qfc", SHELLS[name], "/dev/null"], {
    cwd: folder,
    env: environment(name, home),
    stdio: ["pipe", "pipe", "inherit"],
  });
  let [text, isClosed, wake] = ["", false, () => {}];
  shell.stdout.setEncoding("utf8").on("data", (chunk) => {
    text += chunk;
    wake();
  });
  shell.on("close", () => {
    isClosed = true;
    wake();
  });

  /** Waits for a text. Returns its match and what came before. @param {RegExp} pattern */
  async function until(pattern) {
    const deadline = Date.now() + TIMEOUT_MS;
    for (;;) {
      const found = pattern.exec(text);
      if (found) {
        const before = text.slice(0, found.index);
        text = text.slice(found.index + found[0].length);
        return { before, found };
      }
      if (isClosed || Date.now() >= deadline) throw new Error(isClosed ? "ended the shell" : "does not end");
      const timer = setTimeout(() => wake(), deadline - Date.now());
      await new Promise((resolve) => {
        wake = () => resolve(undefined);
      });
      clearTimeout(timer);
    }
  }

  /**
   * Pastes a block. Returns the exit code of each of its commands, or why there is none.
   * @param {string} block
   */
  async function paste(block) {
    const commands = commandsOf(block);
    const results = [];
    shell.stdin.write(commands.map((each) => (isEndless(each) ? `${each}\n` : `${each}\n${ECHO}`)).join(""));
    for (const command of commands) {
      try {
        if (isEndless(command)) {
          await until(/page: \S+\/_emulator\/\s/);
          shell.stdin.write(`\x03${ECHO}`);
        }
        const { before, found } = await until(ENDED);
        results.push({ command, result: String(found[1]), output: before });
      } catch (error) {
        return [...results, { command, result: /** @type {Error} */ (error).message, output: text }];
      }
    }
    return results;
  }

  /** Closes the terminal, which ends what runs in it. */
  async function close() {
    if (isClosed) return;
    const closed = once(shell, "close");
    shell.kill("SIGKILL");
    await closed;
  }

  return { paste, close };
}

/** @param {string} name @param {string} home */
function environment(name, home) {
  const ofUser = (/** @type {string} */ folder) => path.join(os.homedir(), folder);
  return {
    PATH: process.env.PATH,
    HOME: home,
    SHELL: `/usr/bin/${name}`,
    TERM: "dumb",
    // All pages share the downloads of the engine, npm and Go.
    XDG_CACHE_HOME: process.env.XDG_CACHE_HOME || ofUser(".cache"),
    npm_config_cache: ofUser(".npm"),
    npm_config_update_notifier: "false",
    GOPATH: ofUser("go"),
  };
}

module.exports = { openShell, SHELLS };
