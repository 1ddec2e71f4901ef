import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { DEFAULT_API } from "../../sdk/contract/limits";
import { REPOSITORY } from "../support/sources";

const PARENTS = [
  ["examples", "Pulumi.yaml"],
  ["tools/newProject/programs", "Pulumi.yaml.txt"],
] as const;

const projects = PARENTS.flatMap(([parent, name]) =>
  readdirSync(path.join(REPOSITORY, parent))
    .map((folder) => `${parent}/${folder}/${name}`)
    .filter((file) => existsSync(path.join(REPOSITORY, file))),
);

test("the default API is GraphQL, because the provider is built for its saveEndpoint and deleteEndpoint", () => {
  expect(new Set(Object.values(DEFAULT_API))).toEqual(new Set(["graphql"]));
});

test.each([
  "Pulumi.yaml",
  ...projects,
])("%s names the default API, gives the reason for it, and explains how to switch", (file) => {
  const text = readFileSync(path.join(REPOSITORY, file), "utf8");
  const [, comment = "", api] = /((?:^ *#.*\n)+) +serverless-gpu:api: (\w+)\n/m.exec(text) ?? [];
  expect(api).toBe("graphql");
  expect(comment).toContain("saveEndpoint, deleteEndpoint");
  expect(comment).toContain("early 2027");
  expect(comment).toContain("SERVERLESS_GPU_API=v2 pulumi preview --refresh");
});

test("the project files of examples and of new projects are found", () => {
  expect(projects.length).toBeGreaterThan(12);
});
