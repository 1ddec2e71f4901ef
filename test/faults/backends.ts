import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chown, mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";

/** A server that keeps Pulumi's state, and what the engine needs to use it. */
export interface Backend extends AsyncDisposable {
  readonly env: Readonly<Record<string, string>>;
}

/** Starts a server on this machine. */
type StartBackend = () => Promise<Backend>;

const HOST = "127.0.0.1";

/** PostgreSQL refuses to run as root. */
const USER = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

async function freePort(): Promise<number> {
  const server = createServer().listen(0, HOST);
  await once(server, "listening");
  const address = server.address();
  server.close();
  if (address === null || typeof address === "string") throw new Error("there is no free port");
  return address.port;
}

/** Waits until a server has written a text to its error output. */
function started(server: ChildProcess, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let output = "";
    server.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
      output += chunk;
      if (output.includes(text)) resolve();
    });
    server.on("error", reject).on("exit", () => reject(new Error(`${server.spawnfile} ended:\n${output}`)));
  });
}

async function stop(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const exit = once(server, "exit");
  server.kill("SIGINT");
  await exit;
}

/** S3's interface, by moto (`pip install 'moto[server]'`). */
async function startS3(): Promise<Backend> {
  const port = await freePort();
  const server = spawn("moto_server", ["-H", HOST, "-p", String(port)], { stdio: ["ignore", "ignore", "pipe"] });
  await started(server, "Running on");
  const url = `http://${HOST}:${port}`;
  await fetch(`${url}/state`, { method: "PUT" });
  const options = new URLSearchParams({ endpoint: url, region: "us-east-1", s3ForcePathStyle: "true" });
  const env = {
    PULUMI_BACKEND_URL: `s3://state?${options}`,
    AWS_ACCESS_KEY_ID: "test",
    AWS_SECRET_ACCESS_KEY: "test",
    AWS_REGION: "us-east-1",
  };
  return { env, [Symbol.asyncDispose]: () => stop(server) };
}

/** PostgreSQL, by its own server. */
async function startPostgres(): Promise<Backend> {
  const folder = await mkdtemp(path.join(tmpdir(), "postgres-"));
  if (USER.uid !== undefined) await chown(folder, USER.uid, USER.gid);
  const data = path.join(folder, "data");
  const options = { ...USER, cwd: folder };
  const init = ["-D", data, "-U", "pulumi", "--auth=trust", "--no-sync", "-E", "UTF8", "--no-locale"];
  execFileSync("initdb", init, { ...options, stdio: "ignore" });
  const port = await freePort();
  const args = ["-D", data, "-k", folder, "-h", HOST, "-p", String(port), "-c", "fsync=off"];
  const server = spawn("postgres", args, { ...options, stdio: ["ignore", "ignore", "pipe"] });
  await started(server, "ready to accept connections");
  return {
    env: { PULUMI_BACKEND_URL: `postgres://pulumi@${HOST}:${port}/postgres?sslmode=disable` },
    async [Symbol.asyncDispose]() {
      await stop(server);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The backends that the documents recommend for several machines, and that run here. */
export const BACKENDS: Readonly<Record<string, { readonly needs: string; readonly start: StartBackend }>> = {
  S3: { needs: "moto_server", start: startS3 },
  PostgreSQL: { needs: "initdb", start: startPostgres },
};
