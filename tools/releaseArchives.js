#!/usr/bin/env node
// Packs the built plugin as `pulumi plugin install` expects it, one archive for each platform, and
// writes their checksums: node tools/releaseArchives.js <folder>. The same sources give the same
// bytes. Needs GNU tar.
const { execFileSync } = require("node:child_process");
const { createHash } = require("node:crypto");
const { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } = require("node:fs");
const path = require("node:path");
const { gzipSync } = require("node:zlib");

const root = path.join(__dirname, "..");
const NAME = "pulumi-resource-serverless-gpu";
/**
 * The engine's platforms, by its own names. The plugin is the same on all of them: it runs on
 * Node.js.
 */
const PLATFORMS = ["darwin", "linux", "windows"].flatMap((os) => ["amd64", "arm64"].map((cpu) => `${os}-${cpu}`));

/** @type {Readonly<Record<string, string>>} */
const FILES = {
  LICENSE: "LICENSE",
  // The licenses of the packages in the bundle.
  LICENSES: "plugin/bin/LICENSES",
  // Marks the plugin as CommonJS, whatever a parent folder says.
  "package.json": "plugin/package.json",
  [NAME]: `plugin/bin/${NAME}`,
};
const FILES_ON_WINDOWS = { ...FILES, [`${NAME}.cmd`]: `plugin/bin/${NAME}.cmd` };
const EXECUTABLES = [NAME];

/**
 * @param {Readonly<Record<string, string>>} files the path of each file, by its name in the archive
 */
function pack(files) {
  mkdirSync(path.join(root, ".scratch"), { recursive: true });
  const folder = mkdtempSync(path.join(root, ".scratch", "archive-"));
  try {
    for (const [name, source] of Object.entries(files)) {
      copyFileSync(path.join(root, source), path.join(folder, name));
      chmodSync(path.join(folder, name), EXECUTABLES.includes(name) ? 0o755 : 0o644);
    }
    const sameForAll = ["--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner"];
    const args = ["--create", ...sameForAll, "--directory", folder, ...Object.keys(files)];
    return gzipSync(execFileSync("tar", args, { maxBuffer: 100_000_000 }), { level: 9 });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * Writes the archives and the checksums into a folder.
 * @param {string} folder
 */
function writeArchives(folder) {
  /** @type {string} */
  const version = require("../plugin/package.json").version;
  const [packed, onWindows] = [pack(FILES), pack(FILES_ON_WINDOWS)];
  mkdirSync(folder, { recursive: true });
  const checksums = PLATFORMS.map((platform) => {
    const archive = platform.startsWith("windows") ? onWindows : packed;
    const file = `${NAME}-v${version}-${platform}.tar.gz`;
    writeFileSync(path.join(folder, file), archive);
    return `${createHash("sha256").update(archive).digest("hex")}  ${file}\n`;
  });
  writeFileSync(path.join(folder, `${NAME}-v${version}-checksums.txt`), checksums.join(""));
}

if (require.main === module) writeArchives(path.resolve(process.argv[2] ?? "archives"));

module.exports = { NAME, writeArchives };
