import { assert, describe, it } from "@effect/vitest"
import { execFile } from "node:child_process"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"

const root = join(import.meta.dirname, "../..")

describe("the reference for plugins", () => {
  it("is what `npm run reference` writes", async () => {
    const written = await readFile(join(root, "docs/reference/plugins.md"), "utf8")
    // The compiler works for seconds without a pause, which the services of other tests in this process would feel.
    const args = [join(root, "scripts/reference/main.ts"), "--print"]
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root, maxBuffer: 10_000_000 })
    assert.strictEqual(written, stdout, "npm run reference")
  })
})
