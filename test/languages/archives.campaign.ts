import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { createSecureServer } from "node:http2";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { startEmulator } from "../../emulator";
import { writeArchives } from "../../tools/releaseArchives";
import { createStack, SCRATCH } from "../pulumi/harness";
import { ARCHIVE, ARCHIVES, PLUGIN, VERSION } from "./plugin";

const NAME = `pulumi-resource-serverless-gpu-v${VERSION}`;
const sha256 = (file: string) => createHash("sha256").update(readFileSync(file)).digest("hex");

const HOST = "127.0.0.1";

/** Makes a key and a certificate of its own for a server on this machine. */
async function createCertificate() {
  const folder = await mkdtemp(path.join(SCRATCH, "certificate-"));
  const [key, cert] = [path.join(folder, "key"), path.join(folder, "cert")];
  const subject = ["-subj", "/CN=localhost", "-addext", `subjectAltName=IP:${HOST}`];
  execFileSync("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", cert, ...subject], {
    stdio: "ignore",
  });
  return { key: readFileSync(key), cert: readFileSync(cert), file: cert };
}

/**
 * Serves the archives over HTTP/2, as the releases of a repository are. The engine must trust the
 * certificate.
 */
async function serveArchives() {
  const requested: string[] = [];
  const { file, ...certificate } = await createCertificate();
  const server = createSecureServer(certificate, ({ url }, response) => {
    requested.push(url.slice(1));
    const archive = readFileSync(path.join(ARCHIVES, path.basename(url)));
    response.writeHead(200, { "content-length": archive.length }).end(archive);
  });
  await new Promise<void>((resolve) => server.listen(0, HOST, resolve));
  const url = `https://${HOST}:${(server.address() as AddressInfo).port}`;
  return { url, requested, env: { SSL_CERT_FILE: file }, [Symbol.asyncDispose]: async () => void server.close() };
}

const PROJECT = "name: installed\nruntime: yaml\n";

async function createProject(program = PROJECT, env: Readonly<Record<string, string>> = {}) {
  const stack = await createStack({ env });
  await stack.writeFile("Pulumi.yaml", program);
  await stack.succeed(["stack", "init", "installed"]);
  return stack;
}

test("there is an archive for each platform, with its checksum, and packing again gives the same bytes", async () => {
  const platforms = ["darwin", "linux", "windows"].flatMap((os) => [`${os}-amd64`, `${os}-arm64`]);
  const archives = platforms.map((platform) => `${NAME}-${platform}.tar.gz`);
  expect(readdirSync(ARCHIVES).sort()).toEqual([`${NAME}-checksums.txt`, ...archives].sort());
  const checksums = readFileSync(path.join(ARCHIVES, `${NAME}-checksums.txt`), "utf8");
  expect(checksums).toBe(archives.map((file) => `${sha256(path.join(ARCHIVES, file))}  ${file}\n`).join(""));

  const again = await mkdtemp(path.join(SCRATCH, "archives-"));
  writeArchives(again);
  expect(sha256(path.join(again, path.basename(ARCHIVE)))).toBe(sha256(ARCHIVE));
});

test.each([
  [
    "linux-amd64",
    [
      "-rw-r--r-- LICENSE",
      "-rw-r--r-- LICENSES",
      "-rw-r--r-- package.json",
      "-rwxr-xr-x pulumi-resource-serverless-gpu",
    ],
  ],
  [
    "windows-arm64",
    [
      "-rw-r--r-- LICENSE",
      "-rw-r--r-- LICENSES",
      "-rw-r--r-- package.json",
      "-rwxr-xr-x pulumi-resource-serverless-gpu",
      "-rw-r--r-- pulumi-resource-serverless-gpu.cmd",
    ],
  ],
])("the archive for %s contains only the plugin", (platform, files) => {
  const listed = execFileSync("tar", ["tvzf", path.join(ARCHIVES, `${NAME}-${platform}.tar.gz`)], { encoding: "utf8" });
  const lines = listed.trim().split("\n");
  expect(lines.map((line) => line.replace(/^(\S+) .* (\S+)$/, "$1 $2"))).toEqual(files);
});

test("pulumi plugin install takes the archive from a server, and refuses a wrong checksum", async () => {
  await using server = await serveArchives();
  const stack = await createProject(PROJECT, server.env);
  const install = ["plugin", "install", "resource", "serverless-gpu", VERSION, "--server", server.url, "--checksum"];
  const installed = async () => JSON.parse((await stack.succeed(["plugin", "ls", "--json"])).stdout);
  const wrong = await stack.run([...install, "0".repeat(64)]);
  expect(wrong.exitCode).not.toBe(0);
  expect(wrong.output).toContain("invalid checksum");
  expect(await installed()).toEqual([]);

  await stack.succeed([...install, sha256(ARCHIVE)]);
  expect(await installed()).toMatchObject([{ name: "serverless-gpu", kind: "resource", version: VERSION }]);
  expect(new Set(server.requested)).toEqual(new Set([path.basename(ARCHIVE)]));
});

test("a preview installs the plugin automatically if the program says from where", async () => {
  await using server = await serveArchives();
  await using emulator = await startEmulator({ profile: "contract" });
  const program = `${PROJECT}resources:
  endpoint:
    type: serverless-gpu:ServerlessEndpoint
    properties: { gpuIds: [AMPERE_24], templateId: template }
    options: { version: ${VERSION}, pluginDownloadURL: "${server.url}" }
`;
  const stack = await createProject(program, { ...emulator.env, ...server.env });
  const { output } = await stack.preview();
  expect(output).toMatch(/serverless-gpu:index:ServerlessEndpoint endpoint create/);
  expect(server.requested).toEqual([path.basename(ARCHIVE)]);
});

test("pulumi package add by a path records the name and the version, not the path", async () => {
  const stack = await createProject();
  await stack.succeed(["package", "add", PLUGIN]);
  const project = readFileSync(path.join(stack.folder, "Pulumi.yaml"), "utf8");
  expect(project).toBe(`${PROJECT}packages:\n  serverless-gpu: serverless-gpu@${VERSION}\n`);
  const lock = readFileSync(path.join(stack.folder, `sdks/serverless-gpu/serverless-gpu-${VERSION}.yaml`), "utf8");
  expect(lock).toBe(`packageDeclarationVersion: 1\nname: serverless-gpu\nversion: ${VERSION}\n`);
});
