import { isHarmlessVariable, mayHoldSecret } from "../../cli/adopt/secrets";

const HARMLESS: readonly (readonly [string, string | number | boolean])[] = [
  ["MODEL", "meta-llama/Llama-3.1-8B-Instruct"],
  ["HF_HOME", "/runpod-volume/huggingface-cache/hub"],
  ["CONFIG", "conf/server.yaml"],
  ["MAX_LEN", "8192"],
  ["GPU_SHARE", 0.95],
  ["USE_AUTH_TOKEN", "true"],
  ["EAGER", false],
  ["LOG_LEVEL", "info"],
];

const SUSPECT: readonly (readonly [string, string | number])[] = [
  ["CONN", "host=db user=me password=hunter2"],
  ["PASSPHRASE", "hunter2"],
  ["DB_PW", "hunter2"],
  ["PGPASS", "hunter2"],
  ["MYSQL", "root:hunter2"],
  ["PIN", "4711"],
  ["PIN_CODE", 4711],
  ["SESSION", "hunter2"],
  ["COOKIE", "hunter2"],
  ["BEARER", "hunter2"],
  ["SEED_PHRASE", "alpha beta gamma"],
  ["LICENSE", "AB12-CD34-EF56"],
  ["WHATEVER", "hunter2"],
  ["ACCOUNT", "123456789012"],
  ["MODEL_ACCESS", "letmein"],
  ["MODEL", "user:hunter2"],
  ["MODEL", "a1b2c3d4e5f6a7b8c9d0"],
  ["PATH_PREFIX", "sk-abc"],
  ["SLACK", "hooks.slack.com/services/T0/B0/abcdEFGH"],
  ["FLAGS", "--enforce-eager --dtype=half"],
  ["OPENAI_API_BASE", "http://x/v1"],
];

test("a variable is written into the program only if it is clearly harmless", () => {
  for (const [name, value] of HARMLESS) expect([name, isHarmlessVariable(name, String(value))]).toEqual([name, true]);
  for (const [name, value] of SUSPECT) expect([name, isHarmlessVariable(name, String(value))]).toEqual([name, false]);
});

test("a start command or description that may contain a secret is read from the config", () => {
  for (const command of ["python -u handler.py", "/start.sh --port 8000 --model org/m --dtype=half --eager", ""])
    expect([command, mayHoldSecret("dockerArgs", command)]).toEqual([command, false]);
  for (const command of [
    "serve --wandb 0123456789abcdef0123456789abcdef01234567",
    "mysql -p hunter2",
    "mysql -phunter2",
    "run --pass hunter2",
    "run --pwd=h4",
    "run --model sk-abc",
    "login hunter2",
    "TOKEN=hunter2 run",
    'sh -c "run"',
  ])
    expect([command, mayHoldSecret("dockerArgs", command)]).toEqual([command, true]);
  expect(mayHoldSecret("readme", "# Llama, a model for chats")).toBe(false);
  for (const readme of ["login with abcdef0123456789abcdef0123456789", "pw: hunter2", "The password is hunter2"])
    expect([readme, mayHoldSecret("readme", readme)]).toEqual([readme, true]);
  expect(mayHoldSecret("modelReferences", ["https://me:hunter2@hf.co/x"])).toBe(true);
});
