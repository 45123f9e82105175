import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { api, asAdmin, inOrganization } from "../../../../test/support/TestApp.ts"
import type { MarketplaceSettings } from "../MarketplaceOptions.ts"
import { aDispute, aReturn, aSale } from "./SaleBuilder.ts"
import { runTask } from "./TaskRun.ts"
import { withMarketplace, withoutWorker } from "./VendorShop.ts"

const app = (options: Partial<MarketplaceSettings>) => withMarketplace(options, withoutWorker)

/** A record in a state, due in so many days, of an organization; and its state at the end. */
type Due = readonly [status: string, days: number, after: string, organizationId?: string]

/** Runs the task once over the records; they come from `make` and are read at `route`. */
const assertDeadlines = (task: string, make: typeof aDispute, route: string) =>
  Effect.fnUntraced(function*(output: object, records: ReadonlyArray<Due>) {
    const ids = yield* Effect.forEach(
      records,
      ([status, days, , organizationId = "org_default"]) =>
        Effect.flatMap(aSale({ organizationId }), (sale) => make(sale, status, days, organizationId))
    )
    assert.deepStrictEqual(yield* runTask(task), output)
    const found = yield* Effect.forEach(
      records,
      ([, , , organizationId = "org_default"], index) =>
        api("GET", `/api/marketplace/${route}/${ids[index]}`, { as: inOrganization(organizationId, asAdmin) })
    )
    assert.deepStrictEqual(found.map((read) => read.at("data.status")), records.map(([, , after]) => after))
  })

const disputes = assertDeadlines("marketplace/dispute-deadlines", aDispute, "disputes")
const returns = assertDeadlines("marketplace/return-deadlines", aReturn, "returns")

app({ autoApproveReturnsOnVendorTimeout: true })("disputes and returns that vendors leave unanswered", (it) => {
  it.effect("escalates disputes of all organizations after the deadline, and no others", () =>
    disputes({ done: 2, failed: 0, skipped: 0 }, [
      ["vendor_response_pending", -1, "escalated"],
      ["vendor_response_pending", -1, "escalated", "org_elsewhere"],
      ["vendor_response_pending", 1, "vendor_response_pending"],
      ["platform_review", -1, "platform_review"],
      ["resolved", -1, "resolved"]
    ]))

  it.effect("approves returns of all organizations after the deadline if configured, and no others", () =>
    returns({ done: 2, failed: 0, skipped: 0 }, [
      ["requested", -1, "vendor_approved"],
      ["requested", -1, "vendor_approved", "org_elsewhere"],
      ["requested", 1, "requested"],
      ["vendor_rejected", -1, "vendor_rejected"]
    ]))
})

app({ autoEscalateOnMissedDeadline: false })("without automatic decisions", (it) => {
  it.effect("keeps a dispute with its vendor after the deadline", () =>
    disputes({ done: 0, failed: 0, skipped: 0 }, [["vendor_response_pending", -1, "vendor_response_pending"]]))

  it.effect("keeps a return with its vendor after the deadline by default", () =>
    returns({ done: 0, failed: 0, skipped: 0 }, [["requested", -1, "requested"]]))
})
