import { fidelity } from "../../../emulator/model/fidelity";
import { fidelityTable } from "../../../tools/ruleTables.js";
import { testRuleTable } from "../../support/ruleTable";

describe("the fidelity table", () => testRuleTable(fidelityTable(fidelity)));
