import { assert, describe, inject, it } from "@effect/vitest"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { createPluginTestApp, optionsTable } from "stoa/plugin/testing"
import { posRestaurant } from "../../src/plugins/pos-restaurant/index.ts"
import { pos } from "../../src/plugins/pos/index.ts"
import { runGuide } from "./GuideRequests.ts"

describe("a reader of the README of the restaurant", () => {
  it("serves an evening as it says, and finds the options of the plugin", async () => {
    const readme = await readFile(join(import.meta.dirname, "../../src/plugins/pos-restaurant/README.md"), "utf8")
    assert.include(readme, optionsTable(posRestaurant()))
    const test = await createPluginTestApp([pos(), posRestaurant()], {
      postgres: inject("postgres"),
      store: { defaultCurrency: "CHF" },
      auth: { apiKeys: { enabled: true } }
    })
    try {
      const guide = readme.slice(readme.indexOf("## An evening"), readme.indexOf("## Floor and reports"))
      await runGuide(test.app, guide)
      const sold = await test.db.query("select quantity, total_price::int as total from order_lines")
      assert.deepStrictEqual(sold, [{ quantity: 1, total: 2750 }])
    } finally {
      await test.close()
    }
  })
})
