import path from "node:path";
import { version } from "../../plugin/package.json";
import { REPOSITORY } from "../support/sources";

/** The plugin's version. */
export const VERSION: string = version;

/** Folder of the release archives that the campaign makes before its tests. */
export const ARCHIVES = path.join(REPOSITORY, ".scratch/languages/archives");

/** The built plugin. */
export const PLUGIN = path.join(REPOSITORY, "plugin/bin/pulumi-resource-serverless-gpu");

const CPU = process.arch === "x64" ? "amd64" : process.arch;

/** The release archive for this machine. */
export const ARCHIVE = path.join(
  ARCHIVES,
  `pulumi-resource-serverless-gpu-v${version}-${process.platform}-${CPU}.tar.gz`,
);
