import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, readdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";

/** A PostgreSQL server of its own. */
export interface PostgresServer extends AsyncDisposable {
  /** The URL of its database, with a password. */
  readonly url: string;
  /** Stops the server immediately, and starts it again. */
  restart(downMs?: number): Promise<void>;
  stop(): Promise<void>;
  start(): Promise<void>;
}

/** Debian keeps the programs out of PATH. */
function folderOfPrograms(): string | undefined {
  const debian = "/usr/lib/postgresql";
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...(process.env.PATH ?? "").split(path.delimiter),
    ...versions.map((each) => `${debian}/${each}/bin`),
  ];
  return folders.find((folder) => existsSync(path.join(folder, "initdb")) && existsSync(path.join(folder, "postgres")));
}

const PROGRAMS = folderOfPrograms();

/**
 * `test`, or without PostgreSQL `test.skip` with the reason in the title. CI must have PostgreSQL.
 */
export const needsPostgres = PROGRAMS !== undefined || process.env.CI ? "" : "skipped without PostgreSQL: ";

/** PostgreSQL refuses to run as root. */
const USER = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  if (address === null || typeof address === "string") throw new Error("there is no free port");
  return address.port;
}

/** Starts a server in a new folder. */
export async function startPostgres(): Promise<PostgresServer> {
  if (PROGRAMS === undefined) throw new Error("there is no PostgreSQL: apt-get install postgresql");
  const folder = await mkdtemp(path.join(tmpdir(), "postgres-"));
  if (USER.uid !== undefined) chownSync(folder, USER.uid, USER.gid);
  const data = path.join(folder, "data");
  const init = ["-D", data, "-U", "batch", "--auth=trust", "--no-sync", "-E", "UTF8", "--no-locale"];
  execFileSync(path.join(PROGRAMS, "initdb"), init, { ...USER, cwd: folder, stdio: "ignore" });
  const port = await freePort();
  let server: ChildProcess | undefined;

  async function start(): Promise<void> {
    const args = ["-D", data, "-k", folder, "-h", "127.0.0.1", "-p", String(port)];
    const started = spawn(path.join(PROGRAMS as string, "postgres"), args, {
      ...USER,
      cwd: folder,
      stdio: ["ignore", "ignore", "pipe"],
    });
    server = started;
    await new Promise<void>((resolve, reject) => {
      let output = "";
      started.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
        output += chunk;
        if (output.includes("ready to accept connections")) resolve();
      });
      started.on("error", reject).on("exit", () => reject(new Error(`postgres ended:\n${output}`)));
    });
  }

  async function stop(): Promise<void> {
    if (!server || server.exitCode !== null || server.signalCode !== null) return;
    const exit = once(server, "exit");
    // With an immediate shutdown, connections break, and the server recovers from its log.
    server.kill("SIGQUIT");
    await exit;
  }

  await start();
  return {
    url: `postgres://batch:canary-password@127.0.0.1:${port}/postgres`,
    start,
    stop,
    async restart(downMs = 0) {
      await stop();
      await new Promise((resolve) => setTimeout(resolve, downMs));
      await start();
    },
    async [Symbol.asyncDispose]() {
      await stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
