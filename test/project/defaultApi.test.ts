import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { DEFAULT_API } from "../../sdk/contract/limits";
import { REPOSITORY } from "../support/sources";

const filesIn = (parent: string, name: string) =>
  readdirSync(path.join(REPOSITORY, parent))
    .map((folder) => `${parent}/${folder}/${name}`)
    .filter((file) => existsSync(path.join(REPOSITORY, file)));

const examples = filesIn("examples", "Pulumi.yaml");
const newProjects = filesIn("tools/newProject/programs", "Pulumi.yaml.txt");

test("the default API is GraphQL, because the provider is built for its saveEndpoint and deleteEndpoint", () => {
  expect(new Set(Object.values(DEFAULT_API))).toEqual(new Set(["graphql"]));
});

test.each([
  "Pulumi.yaml",
  ...examples,
])("%s names the default API, gives the reason for it, and explains how to switch", (file) => {
  const text = readFileSync(path.join(REPOSITORY, file), "utf8");
  const [, comment = "", api] = /((?:^ *#.*\n)+) +serverless-gpu:api: (\w+)\n/m.exec(text) ?? [];
  expect(api).toBe("graphql");
  expect(comment).toContain("saveEndpoint, deleteEndpoint");
  expect(comment).toContain("early 2027");
  expect(comment).toContain("SERVERLESS_GPU_API=v2 pulumi preview --refresh");
});

test.each(
  newProjects,
)("%s does not select an API, so that the project uses the one that the service serves", (file) => {
  expect(readFileSync(path.join(REPOSITORY, file), "utf8")).not.toContain("serverless-gpu:api");
});

test("the project files of examples and of new projects are found", () => {
  expect([examples.length > 8, newProjects.length]).toEqual([true, 4]);
});
