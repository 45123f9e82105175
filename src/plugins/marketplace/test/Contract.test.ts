import { afterAll, assert, beforeAll, describe, inject, it } from "@effect/vitest"
import { readFile } from "node:fs/promises"
import { contractOf, createPluginTestApp, machineOf, optionsTable, type PluginTestApp } from "stoa/plugin/testing"
import { dispute } from "../disputes/Dispute.ts"
import { marketplace } from "../index.ts"
import { payout, type payouts } from "../payouts/Payout.ts"
import { vendor } from "../vendors/Vendor.ts"

/** Rows that keep to the conditions of their tables, where a value that only fits its column does not. */
const samples = { marketplace_vendor_sub_orders: { subtotal: 2, commissionAmount: 1, payoutAmount: 1 } }

/** The moves of a payout that depend on nothing but its state; money for a retry has to be there. */
const { complete, fail } = payout.moves

describe("the marketplace", () => {
  let app: PluginTestApp
  beforeAll(async () => {
    app = await createPluginTestApp(marketplace(), { postgres: inject("postgres") })
  })
  afterAll(() => app.close())

  it("keeps to what every plugin has to do", { timeout: 400_000 }, async () => {
    const reason = { reason: "No." }
    const vendors = "/api/marketplace/vendors"
    const checks = [
      ...contractOf(app, { samples }),
      ...machineOf(app, vendor, { path: vendors, bodies: { reject: reason, suspend: reason }, samples }),
      ...machineOf(app, dispute, { bodies: { resolve: { resolution: "rejected" } }, samples }),
      ...machineOf<typeof payouts, "complete" | "fail">(app, { ...payout, moves: { complete, fail } }, {
        path: "/api/marketplace/payouts",
        bodies: { complete: { reference: "slip" }, fail: reason },
        samples
      })
    ]
    for (const { name, run } of checks) {
      await run().catch((error) => assert.fail(`${name}: ${error}`))
    }
  })

  it("has its options in its README, and brings its permissions", async () => {
    const readme = await readFile(new URL("../README.md", import.meta.url), "utf8")
    assert.include(readme, optionsTable(marketplace()))
    const permissions = marketplace().permissions.map(({ scope }) => scope)
    assert.deepStrictEqual(permissions, ["marketplace:admin", "marketplace:read", "marketplace:vendor"])
  })
})
