import { assert, describe, it } from "@effect/vitest"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { pagePath, referencePage } from "../../scripts/reference/Page.ts"

describe("the reference for plugins", () => {
  it("is what `npm run reference` writes", async () => {
    const written = await readFile(join(import.meta.dirname, "../..", pagePath), "utf8")
    assert.strictEqual(written, referencePage(), "npm run reference")
  }, 120_000)
})
