import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { GPU_TYPES } from "../../emulator/model/gpuTypes";
import { PUBLIC_PRICES } from "../../sdk/catalog/publicPrices";
import { REPOSITORY } from "../support/sources";

const { resourcePages } = require("../../tools/resourcePages");

const FOLDER = path.join(REPOSITORY, "docs/resources");

test("the pages of the resources and of the GPU pools are up to date (npm run docs:resources writes them)", () => {
  const schema = JSON.parse(readFileSync(path.join(REPOSITORY, "plugin/schema.json"), "utf8"));
  const written = readdirSync(FOLDER).map((file) => [file, readFileSync(path.join(FOLDER, file), "utf8")]);
  expect(Object.fromEntries(written)).toEqual(resourcePages(schema, GPU_TYPES, PUBLIC_PRICES));
});
