import { checkAddresses } from "../../cli/doctor/service";
import type { WholeResponse } from "../../sdk/transport/httpRequest";

/** Returns the status of an interface that responds at this URL. */
function statusOf(address: string): string {
  const reply = { name: "queueUrl", address, response: { status: 404 } as WholeResponse } as const;
  return checkAddresses([reply], { settings: {}, sourceOf: () => "set", finding: { status: "ok", found: "" } } as never)
    .status;
}

test.each([
  ["https://api.example.com", "ok"],
  ["http://localhost:8080", "ok"],
  ["http://127.0.0.1:8080", "ok"],
  ["http://[::1]:8080", "ok"],
  ["http://api.example.com", "warning"],
  ["http://127.example.com", "warning"],
])("doctor warns about an unencrypted URL: %s is %s", (address, status) => {
  expect(statusOf(address)).toBe(status);
});
