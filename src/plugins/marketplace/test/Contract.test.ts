import { afterAll, assert, beforeAll, describe, inject, it } from "@effect/vitest"
import { contractOf, createPluginTestApp, machineOf, type PluginTestApp } from "stoa/plugin/testing"
import { dispute } from "../disputes/Dispute.ts"
import { marketplace } from "../index.ts"
import { vendor } from "../vendors/Vendor.ts"

/** Rows that keep to the conditions of their tables, where a value that only fits its column does not. */
const samples = { marketplace_vendor_sub_orders: { subtotal: 2, commissionAmount: 1, payoutAmount: 1 } }

describe("the marketplace", () => {
  let app: PluginTestApp
  beforeAll(async () => {
    app = await createPluginTestApp(marketplace(), { postgres: inject("postgres").url })
  })
  afterAll(() => app.close())

  it("keeps to what every plugin has to do", { timeout: 180_000 }, async () => {
    const reason = { reason: "No." }
    const checks = [
      ...contractOf(app, { samples }),
      ...machineOf(app, vendor, {
        path: "/api/marketplace/vendors",
        bodies: { reject: reason, suspend: reason },
        samples
      }),
      ...machineOf(app, dispute, { bodies: { resolve: { resolution: "rejected" } }, samples })
    ]
    for (const { name, run } of checks) {
      await run().catch((error) => assert.fail(`${name}: ${error}`))
    }
  })
})
