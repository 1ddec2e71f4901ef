/** A resource of a program in any language. */
export interface Declared {
  readonly name: string;
  readonly kind: "ServerlessEndpoint" | "ServerlessTemplate" | "NetworkVolume" | "ContainerRegistryAuth";
  readonly properties: Readonly<Record<string, unknown>>;
  readonly options?: Options;
}

/** Options that all languages have. Aliases are URNs, and the parent is the name of a resource. */
export interface Options {
  readonly aliases?: readonly string[];
  readonly parent?: string;
  readonly protect?: boolean;
  readonly retainOnDelete?: boolean;
  readonly deleteBeforeReplace?: boolean;
  readonly replaceOnChanges?: readonly string[];
  readonly ignoreChanges?: readonly string[];
}

/** The id of another resource of the program, as the value of a property. */
export const idOf = (name: string) => ({ $id: name });

const reference = (value: unknown) =>
  typeof value === "object" && value !== null && "$id" in value ? String(value.$id) : undefined;

/** Returns the expression for a value in a language. */
function expression(value: unknown, id: (name: string) => string, words: Words): string {
  const name = reference(value);
  if (name !== undefined) return id(name);
  if (Array.isArray(value)) return `[${value.map((each) => expression(each, id, words)).join(", ")}]`;
  if (typeof value === "boolean") return words[value ? "yes" : "no"];
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).map(([key, each]) => `${JSON.stringify(key)}: ${expression(each, id, words)}`);
  return `{${entries.join(", ")}}`;
}

interface Words {
  readonly yes: string;
  readonly no: string;
}

const JSON_WORDS: Words = { yes: "true", no: "false" };

/** Returns a program for the npm package. */
export function typescript(all: readonly Declared[]): string {
  const idIn = (name: string) => `${name}.id`;
  const lines = all.map(({ name, kind, properties, options: { parent, ...options } = {} }) => {
    const others = JSON.stringify(options).slice(1, -1);
    const shown = [...(parent ? [`parent: ${parent}`] : []), ...(others ? [others] : [])].join(", ");
    return `const ${name} = new gpu.${kind}("${name}", ${expression(properties, idIn, JSON_WORDS)}, { ${shown} });`;
  });
  return `import * as gpu from "pulumi-serverless-gpu";\n${lines.join("\n")}\n`;
}

const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Returns a program for the plugin in Python. */
export function python(all: readonly Declared[]): string {
  const words: Words = { yes: "True", no: "False" };
  const idIn = (name: string) => `${name}.id`;
  const lines = all.map(({ name, kind, properties, options = {} }) => {
    const given = Object.entries(properties).map(([key, value]) => `${snake(key)}=${expression(value, idIn, words)}`);
    const opts = Object.entries(options).map(
      ([key, value]) => `${snake(key)}=${key === "parent" ? value : expression(value, idIn, words)}`,
    );
    return `${name} = gpu.${kind}("${name}", ${given.join(", ")}, opts=pulumi.ResourceOptions(${opts.join(", ")}))`;
  });
  return `import pulumi\nimport pulumi_serverless_gpu as gpu\n\n${lines.join("\n")}\n`;
}

/** Returns a program for the plugin in YAML. */
export function yaml(all: readonly Declared[]): string {
  const use = (name: string) => `\${${name}}`;
  const idIn = (name: string) => JSON.stringify(use(`${name}.id`));
  const lines = all.map(({ name, kind, properties, options: { parent, ...options } = {} }) => {
    const shown = { ...options, ...(parent && { parent: use(parent) }) };
    const written = expression(properties, idIn, JSON_WORDS);
    return `  ${name}: {"type": "serverless-gpu:${kind}", "properties": ${written}, "options": ${JSON.stringify(shown)}}`;
  });
  return `name: languages\nruntime: yaml\nresources:\n${lines.join("\n")}\n`;
}
