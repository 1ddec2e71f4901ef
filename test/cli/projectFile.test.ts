import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { configuredValues, projectConfig } from "../../cli/connection/projectFile";

const folder = mkdtempSync(path.join(tmpdir(), "project-file-"));

function settingsIn(text: string, name = "Pulumi.yaml") {
  const file = path.join(folder, name);
  writeFileSync(file, text);
  return Object.fromEntries(projectConfig(file));
}

test("a project file's settings are read whether they are plain or written with a value key", () => {
  const yaml = `name: test
runtime: nodejs
config:
  # the API
  serverless-gpu:api: v2 # REST v2, the newer API

  "serverless-gpu:service":
    # a comment
    value: 'runpod' # the service
  serverless-gpu:graphqlUrl: { value: "https://api.example.com/a#b" }
  serverless-gpu:queueUrl: "https://api.example.com:8080" # a URL
  serverless-gpu:restUrl:
    description: no value
  serverless-gpu:acceptWords: [ONE, TWO]
  other:api: graphql
  workersMax: { type: integer, default: 3 }
resources:
  serverless-gpu:api: graphql
`;
  const expected = {
    api: "v2",
    service: "runpod",
    graphqlUrl: "https://api.example.com/a#b",
    queueUrl: "https://api.example.com:8080",
  };
  expect(settingsIn(yaml)).toEqual(expected);
  expect(settingsIn(yaml.replaceAll("\n", "\r\n"))).toEqual(expected);
  const json = { name: "test", config: { "serverless-gpu:api": { value: "v2" }, "serverless-gpu:service": "runpod" } };
  expect(settingsIn(JSON.stringify(json), "Pulumi.json")).toEqual({ api: "v2", service: "runpod" });
});

test.each<[string, string]>([
  ["a flow mapping", 'config: { "serverless-gpu:api": v2 }'],
  ["JSON", '{"config": {"serverless-gpu:api": {"value": "v2"}}}'],
  ["an anchor", "name: &newer v2\nconfig:\n  serverless-gpu:api: *newer"],
  ["a merge key", "all: &all\n  serverless-gpu:api: v2\nconfig:\n  <<: *all"],
  ["a folded text", "config:\n  serverless-gpu:api: >-\n    v2"],
  ["a value on the next line", "config:\n  serverless-gpu:api:\n    v2"],
  ["an explicit key", "config:\n  ? serverless-gpu:api\n  : v2"],
  ["an escaped key", 'config:\n  "serverless\\u002dgpu:api": v2'],
  ["a tagged text", "config:\n  serverless-gpu:api: !!str v2"],
  ["a value key below a comment", "config:\n  serverless-gpu:api:\n    # newer\n    value: v2"],
])("a setting is read from %s", (_shape, yaml) => {
  expect(settingsIn(`${yaml}\n`)).toEqual({ api: "v2" });
});

test.each(["Pulumi.yaml", "Pulumi.json"])("an invalid %s causes an error that names the file", (name) => {
  expect(() => settingsIn("{ name: [", name)).toThrow(`cannot read the project file ${path.join(folder, name)}: `);
});

test("a project file without config has no settings", () => {
  expect(settingsIn("name: test\nruntime: nodejs\n# config:\n#   serverless-gpu:api: v2\n")).toEqual({});
  expect(settingsIn('{"name":"test"}', "Pulumi.json")).toEqual({});
});

test("the values of a setting come from the project in both usual forms, and from the config of each stack", () => {
  const found = mkdtempSync(path.join(tmpdir(), "project-"));
  const file = path.join(found, "Pulumi.yaml");
  writeFileSync(file, "name: a\nconfig:\n  serverless-gpu:namespace:\n    value: team\n");
  expect(configuredValues(file, "namespace")).toEqual(["team"]);
  writeFileSync(file, "name: a\nstackConfigDir: stacks\nconfig:\n  serverless-gpu:namespace: own-team\n");
  mkdirSync(path.join(found, "stacks"));
  writeFileSync(path.join(found, "stacks/Pulumi.dev.yaml"), "config:\n  serverless-gpu:namespace: of-dev\n");
  writeFileSync(path.join(found, "stacks/Pulumi.prod.yaml"), "config:\n  serverless-gpu:namespace: own-team\n");
  writeFileSync(path.join(found, "stacks/notes.yaml"), "config:\n  serverless-gpu:namespace: no\n");
  expect(configuredValues(file, "namespace")).toEqual(["own-team", "of-dev"]);
  rmSync(found, { recursive: true });
});
