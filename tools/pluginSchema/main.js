// Writes plugin/schema.json.
const { writeFileSync } = require("node:fs");
const path = require("node:path");
const { SETTING_VARIABLES } = require("../../build/provider/connection/config");
const { SOURCES } = require("../../build/provider/functions/sources");
const { RESOURCE_TYPES } = require("../../build/provider/engine/resourceTypes");
const { buildSchema } = require("./schema");

const file = path.join(__dirname, "../../plugin/schema.json");
writeFileSync(file, `${JSON.stringify(buildSchema(RESOURCE_TYPES, SOURCES, SETTING_VARIABLES), null, 2)}\n`);
