import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { api, asAdmin, inOrganization, testAppLayer } from "../../../../../test/support/TestApp.ts"
import { marketplace } from "../../index.ts"
import type { MarketplaceSettings } from "../../MarketplaceOptions.ts"
import { aDispute, aSale } from "../SaleBuilder.ts"
import { runTask } from "../TaskRun.ts"

const app = (options: Partial<MarketplaceSettings>) =>
  layer(testAppLayer({ jobs: { autorun: { enabled: false } }, plugins: [marketplace(options)] }), {
    excludeTestServices: true,
    timeout: "60 seconds"
  })

const run = runTask("marketplace/dispute-deadlines")

const statusOf = (id: string, organization = "org_default") =>
  Effect.map(
    api("GET", `/api/marketplace/disputes/${id}`, { as: inOrganization(organization, asAdmin) }),
    (read) => read.at("data.status")
  )

const aDisputeOf = Effect.fnUntraced(function*(status: string, deadlineInDays: number, organizationId = "org_default") {
  return yield* aDispute(yield* aSale({ organizationId }), status, deadlineInDays, organizationId)
})

app({})("disputes that vendors leave unanswered", (it) => {
  it.effect("are escalated after the deadline, of all organizations, and others stay", () =>
    Effect.gen(function*() {
      const late = yield* aDisputeOf("vendor_response_pending", -1)
      const elsewhere = yield* aDisputeOf("vendor_response_pending", -1, "org_elsewhere")
      const inTime = yield* aDisputeOf("vendor_response_pending", 1)
      const answered = yield* aDisputeOf("platform_review", -1)
      const resolved = yield* aDisputeOf("resolved", -1)
      assert.deepStrictEqual(yield* run, { escalated: 2 })
      const found = yield* Effect.all([
        statusOf(late),
        statusOf(elsewhere, "org_elsewhere"),
        statusOf(inTime),
        statusOf(answered),
        statusOf(resolved)
      ])
      assert.deepStrictEqual(found, [
        "escalated",
        "escalated",
        "vendor_response_pending",
        "platform_review",
        "resolved"
      ])
    }))
})

app({ autoEscalateOnMissedDeadline: false })("without autoEscalateOnMissedDeadline", (it) => {
  it.effect("a dispute stays with its vendor after the deadline", () =>
    Effect.gen(function*() {
      const late = yield* aDisputeOf("vendor_response_pending", -1)
      yield* run
      assert.strictEqual(yield* statusOf(late), "vendor_response_pending")
    }))
})
