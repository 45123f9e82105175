import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { api, asAdmin, inOrganization, testAppLayer } from "../../../../../test/support/TestApp.ts"
import { marketplace } from "../../index.ts"
import type { MarketplaceSettings } from "../../MarketplaceOptions.ts"
import { aReturn, aSale } from "../SaleBuilder.ts"
import { runTask } from "../TaskRun.ts"

const app = (options: Partial<MarketplaceSettings>) =>
  layer(testAppLayer({ jobs: { autorun: { enabled: false } }, plugins: [marketplace(options)] }), {
    excludeTestServices: true,
    timeout: "60 seconds"
  })

const run = runTask("marketplace/return-deadlines")

const statusOf = (id: string, organization = "org_default") =>
  Effect.map(
    api("GET", `/api/marketplace/returns/${id}`, { as: inOrganization(organization, asAdmin) }),
    (read) => read.at("data.status")
  )

const aReturnOf = Effect.fnUntraced(function*(status: string, deadlineInDays: number, organizationId = "org_default") {
  return yield* aReturn(yield* aSale({ organizationId }), status, deadlineInDays, organizationId)
})

app({ autoApproveReturnsOnVendorTimeout: true })("returns that vendors leave unanswered", (it) => {
  it.effect("are approved after the deadline, of all organizations, and others stay", () =>
    Effect.gen(function*() {
      const late = yield* aReturnOf("requested", -1)
      const elsewhere = yield* aReturnOf("requested", -1, "org_elsewhere")
      const inTime = yield* aReturnOf("requested", 1)
      const rejected = yield* aReturnOf("vendor_rejected", -1)
      assert.deepStrictEqual(yield* run, { approved: 2 })
      const found = yield* Effect.all([
        statusOf(late),
        statusOf(elsewhere, "org_elsewhere"),
        statusOf(inTime),
        statusOf(rejected)
      ])
      assert.deepStrictEqual(found, ["vendor_approved", "vendor_approved", "requested", "vendor_rejected"])
    }))
})

app({})("without autoApproveReturnsOnVendorTimeout", (it) => {
  it.effect("a return waits for its vendor after the deadline", () =>
    Effect.gen(function*() {
      const late = yield* aReturnOf("requested", -1)
      assert.deepStrictEqual(yield* run, { approved: 0 })
      assert.strictEqual(yield* statusOf(late), "requested")
    }))
})
