// Writes plugin/schema.json.
const { writeFileSync } = require("node:fs");
const path = require("node:path");
const { RESOURCE_TYPES } = require("../../dist/provider/resourceTypes");
const { buildSchema } = require("./schema");

const file = path.join(__dirname, "../../plugin/schema.json");
writeFileSync(file, `${JSON.stringify(buildSchema(RESOURCE_TYPES), null, 2)}\n`);
