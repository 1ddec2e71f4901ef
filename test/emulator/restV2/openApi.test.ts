import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { parse } from "yaml";
import type { OperationFacts } from "../../../emulator/restV2/facts";
import { differences } from "../../../tools/checkSpec.js";

/** A document of our own, with everything that OpenAPI 3.1 writes in more than one way. */
const DOCUMENT = `
openapi: 3.1.0
paths:
  /v2/boxes:
    parameters: [{ $ref: "#/components/parameters/Cursor" }]
    get:
      parameters: [{ name: limit, in: query }]
      responses: { "200": { $ref: "#/components/responses/Boxes" } }
    post:
      requestBody: { content: { "application/json; charset=utf-8": { schema: { $ref: "#/components/schemas/NewBox" } } } }
      responses: { "2XX": { content: { application/vnd.boxes+json: { schema: { $ref: "#/components/schemas/Box" } } } } }
  /v2/boxes/{boxId}/:
    $ref: "#/components/pathItems/box~1one%7Bid%7D"
components:
  parameters: { Cursor: { name: cursor, in: query } }
  pathItems:
    "box/one{id}": { delete: { responses: { "204": { description: gone } } } }
  responses:
    Boxes:
      content:
        application/json:
          schema: { type: object, properties: { boxes: { type: [array, "null"], items: { $ref: "#/components/schemas/Box" } } } }
  schemas:
    Size: { type: object, properties: { width: { type: integer, minimum: 1, maximum: 9 } } }
    Box:
      allOf:
        - { type: object, properties: { id: { type: string } } }
        - { oneOf: [{ properties: { size: {} } }, { properties: { weight: {} } }] }
    Color: { enum: [RED, BLUE] }
    ByDay: { type: object, required: [kind], properties: { kind: { const: DAY } } }
    ByHour: { type: object, required: [hours, kind], properties: { kind: { enum: [HOUR] }, hours: { type: integer, minimum: 1 } } }
    NewBox:
      allOf:
        - type: object
          required: [name]
          properties: { name: { type: string, minLength: 1 } }
        - properties:
            note: { type: [string, "null"] }
            label: { anyOf: [{ type: string }, { type: "null" }] }
            size: { allOf: [{ $ref: "#/components/schemas/Size" }], properties: { width: { type: integer, default: 3 } } }
            color: { $ref: "#/components/schemas/Color", description: The color }
            rent: { oneOf: [{ $ref: "#/components/schemas/ByHour" }, { $ref: "#/components/schemas/ByDay" }] }
          required: [rent]
`;

const kind = (word: string) => ({ type: "string", enum: [word] }) as const;

const FACTS: Readonly<Record<string, OperationFacts>> = {
  list: {
    method: "GET",
    path: "/boxes",
    status: 200,
    list: "boxes",
    reads: ["id", "size", "weight"],
    query: ["limit", "cursor"],
  },
  remove: { method: "DELETE", path: "/boxes/{id}", status: 204 },
  create: {
    method: "POST",
    path: "/boxes",
    status: 201,
    reads: ["id"],
    body: {
      type: "object",
      required: ["name", "rent"],
      properties: {
        name: { type: "string", minLength: 1 },
        note: { type: "string", nullable: true },
        label: { type: "string", nullable: true },
        size: { type: "object", properties: { width: { type: "integer", minimum: 1, maximum: 9 } } },
        color: { type: "string", enum: ["BLUE", "RED"] },
        rent: {
          oneOf: [
            { type: "object", required: ["kind"], properties: { kind: kind("DAY") } },
            {
              type: "object",
              required: ["kind", "hours"],
              properties: { kind: kind("HOUR"), hours: { type: "integer", minimum: 1 } },
            },
          ],
        },
      },
    },
  },
};

test("the comparison handles references, merged parts, variants in any order, every form of null, and path parameters", () => {
  expect(differences(FACTS, parse(DOCUMENT))).toEqual([]);
});

test.each([
  ["maximum: 9", "maximum: 8", "create (POST /boxes): body.size.width: maximum is 9 here, 8 in the document"],
  [
    "const: DAY",
    "const: NIGHT",
    "create (POST /boxes): body.rent[0].kind: the words is DAY here, NIGHT in the document",
  ],
  ["RED, BLUE", "RED", "create (POST /boxes): body.color: the words is BLUE, RED here, RED in the document"],
  ['[string, "null"]', "string", "create (POST /boxes): body.note: null is true here, false in the document"],
  [', { $ref: "#/components/schemas/ByDay" }', "", "create (POST /boxes): body.rent has 0 variants there, 2 here"],
  ["name: cursor", "name: after", "list (GET /boxes): the query parameter cursor is not in the document"],
  ["weight", "mass", "list (GET /boxes): the response's boxes[].weight is not in the document"],
  ["/v2/boxes/{boxId}/:", "/v2/chests/{boxId}:", "remove (DELETE /boxes/{id}): not in the document"],
  ['"204"', '"200"', "remove (DELETE /boxes/{id}): status 204 is not in the document"],
])("replacing %s with %s is reported as a difference", (from, to, difference) => {
  expect(differences(FACTS, parse(DOCUMENT.replace(from, to)))).toEqual([difference]);
});

test.each([
  ["#/components/schemas/Size", "#/components/schemas/Sizes", "the reference #/components/schemas/Sizes leads nowhere"],
  ["#/components/schemas/Size", "other.yaml#/Size", "leads out of the document: bundle it first"],
  ["Color: { enum: [RED, BLUE] }", 'Color: { $ref: "#/components/schemas/Color" }', "leads back to itself"],
])("replacing %s with %s fails with an error that names the problem", (from, to, message) => {
  expect(() => differences(FACTS, parse(DOCUMENT.replace(from, to)))).toThrow(message);
});

describe("the command", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "open-api-"));
  afterAll(() => rmSync(folder, { recursive: true }));

  async function checkSpec(place: string) {
    const child = spawn(process.execPath, [path.resolve(__dirname, "../../../tools/checkSpec.js"), place]);
    let output = "";
    child.stdout.on("data", (chunk) => (output += chunk));
    child.stderr.on("data", (chunk) => (output += chunk));
    const [exitCode] = await once(child, "close");
    return { exitCode, output };
  }

  const fileOf = (name: string, text: string) => {
    writeFileSync(path.join(folder, name), text);
    return path.join(folder, name);
  };

  test.each([
    ["YAML", () => fileOf("spec.yaml", DOCUMENT)],
    ["JSON", () => fileOf("spec.json", JSON.stringify(parse(DOCUMENT)))],
  ])("the command reads %s", async (_, place) => {
    const { exitCode, output } = await checkSpec(place());
    expect(exitCode).toBe(1);
    expect(output).toMatch(/^listEndpoints \(GET \/serverless\): not in the document[\s\S]*\d+ differences\n$/);
  });

  test.each([
    [200, DOCUMENT, 1, "not in the document"],
    [404, "no", 2, "responds with 404. Download the document, and give the file"],
    [200, "<html><p>Sign in: now</p></html>", 2, "is not an OpenAPI document: it has no paths"],
    [200, "a: [", 2, "is neither JSON nor YAML"],
  ])("the command reads a URL that responds with %d %#", async (status, body, exitCode, message) => {
    const server = createServer((_, response) => response.writeHead(status).end(body)).listen(0, "127.0.0.1");
    await once(server, "listening");
    const result = await checkSpec(`http://127.0.0.1:${(server.address() as AddressInfo).port}/openapi.yaml`);
    server.close();
    expect(result.output).toContain(message);
    expect(result.exitCode).toBe(exitCode);
  });
});
