import { recordProgram } from "../../cli/adopt/recordProgram";
import { defaultsOf } from "../../sdk/records/fields";
import { TEMPLATE_FIELDS, type Template, type TemplateSettings } from "../../sdk/templates/template";

const SECRET = "env-canary-31";

function template(fields: Partial<Template>): Template {
  const required = { id: "t1", name: "llama", imageName: "app:1", isServerless: true, isPublic: false, kept: {} };
  return { ...(defaultsOf(TEMPLATE_FIELDS) as Omit<TemplateSettings, "name" | "imageName">), ...required, ...fields };
}

test("templates are adopted without their variables, and volumes are protected", () => {
  const volume = { id: "v1", name: "models", size: 50, dataCenterId: "EU-RO-1", storageType: "" };
  const { resources, classes, skipped } = recordProgram([template({ env: { TOKEN: SECRET } })], [volume]);
  expect(skipped).toEqual([]);
  expect(classes).toEqual(["NetworkVolume", "ServerlessTemplate"]);
  expect(resources.join("\n")).toBe(`new ServerlessTemplate("llama", {
  adoptId: "t1",
  name: "llama",
  imageName: "app:1",
  // not managed: env (TOKEN). To manage these variables, add them with config secrets
});

new NetworkVolume("models", {
  adoptId: "v1",
  name: "models",
  size: 50,
  dataCenterId: "EU-RO-1",
}, { protect: true });
`);
});

test("pod templates, public templates and templates that belong to endpoints are left out with a reason", () => {
  const { resources, skipped } = recordProgram(
    [
      template({ id: "a", isServerless: false }),
      template({ id: "b", isPublic: true }),
      template({ id: "c", name: "llama__template__a1b2c3d" }),
    ],
    [],
  );
  expect(resources).toEqual([]);
  expect(skipped.map(({ id }) => id)).toEqual(["a", "b", "c"]);
});

test("a start command or description that may contain a secret is left unmanaged", () => {
  const [plain, secret] = ["python -u handler.py", `serve --wandb ${SECRET}`];
  const { resources } = recordProgram(
    [template({ dockerArgs: plain, readme: "# Llama" }), template({ dockerArgs: secret, readme: `pw ${SECRET}` })],
    [],
  );
  const source = resources.join("\n");
  expect(source).toContain('dockerArgs: "python -u handler.py",\n  readme: "# Llama",\n');
  expect(source).toContain("// not managed: dockerArgs, which may hold a secret. Add it with a config secret\n");
  expect(source).toContain("// not managed: readme, which may hold a secret");
  expect(source).not.toContain(SECRET);
});
