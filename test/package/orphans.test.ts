import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { removeOrphans } from "../../tools/orphans";

test("a build removes the outputs of moved or deleted sources, and nothing else", () => {
  const root = mkdtempSync(path.join(tmpdir(), "orphans-"));
  try {
    const write = (file: string) => {
      mkdirSync(path.dirname(path.join(root, file)), { recursive: true });
      writeFileSync(path.join(root, file), "");
    };
    const outputsOf = (name: string) => [".js", ".js.map", ".d.ts", ".d.ts.map"].map((each) => `dist/${name}${each}`);
    const kept = ["dist/.tsbuildinfo", "dist/sdk/licenses.txt", ...outputsOf("sdk/here")];
    for (const file of ["sdk/here.ts", ...kept, ...outputsOf("sdk/gone"), ...outputsOf("sdk/moved/all")]) write(file);
    removeOrphans(path.join(root, "dist"), root);
    const left = readdirSync(path.join(root, "dist"), { recursive: true, withFileTypes: true });
    const files = left.filter((each) => each.isFile()).map((each) => path.join(each.parentPath, each.name));
    expect(files.map((file) => path.relative(root, file)).sort()).toEqual(kept.sort());
    expect(left.filter((each) => each.isDirectory()).map(({ name }) => name)).toEqual(["sdk"]);
  } finally {
    rmSync(root, { recursive: true });
  }
});
