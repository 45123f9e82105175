import { afterAll, assert, beforeAll, describe, inject, it } from "@effect/vitest"
import { contractOf, createPluginTestApp, type PluginTestApp } from "stoa/plugin/testing"
import { marketplace } from "../index.ts"

/** Rows that keep to the conditions of their tables, where a value that only fits its column does not. */
const samples = { marketplace_vendor_sub_orders: { subtotal: 2, commissionAmount: 1, payoutAmount: 1 } }

describe("the marketplace", () => {
  let app: PluginTestApp
  beforeAll(async () => {
    app = await createPluginTestApp(marketplace(), { postgres: inject("postgres").url })
  })
  afterAll(() => app.close())

  it("keeps to what every plugin has to do", { timeout: 180_000 }, async () => {
    for (const { name, run } of contractOf(app, { samples })) {
      await run().catch((error) => assert.fail(`${name}: ${error}`))
    }
  })
})
