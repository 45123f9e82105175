import { Schema } from "effect"
import { FreeText, group, Text, Uuid } from "stoa/plugin"
import { ownVendor, portal } from "../parties/VendorPortal.ts"
import { payouts } from "./Payout.ts"
import { completePayout, failPayout } from "./PayoutEnds.ts"
import { retryPayout, runPayouts } from "./PayoutRuns.ts"

const g = group("Marketplace payouts", "/marketplace")
const success = payouts.Row
const admin = { permission: "marketplace:admin", success }
const status = Schema.optional(payouts.columns.status.schema)

export const payoutRoutes = [
  g.list("/payouts", { ...admin, summary: "List payouts", query: { vendorId: Schema.optional(Uuid), status } })
    .handle(({ db, page, query }) => db.table(payouts).page(query, page)),
  g.get("/payouts/:id", { ...admin, summary: "Read a payout" })
    .handle(({ db, params }) => db.table(payouts).get(params.id)),
  g.post("/payouts/run", {
    summary: "Pay vendors",
    description:
      "Pays out what is due to the named vendors, or to all approved ones. `force`: also less than their minimum.",
    permission: "marketplace:admin",
    input: Schema.NullOr(Schema.Struct({
      vendorIds: Schema.optional(Schema.Array(Uuid).check(Schema.isMaxLength(1_000))),
      force: Schema.optional(Schema.Boolean)
    })),
    success: Schema.Array(
      Schema.Struct({ vendorId: Uuid, payoutId: Uuid, netAmount: Schema.Int, currency: Schema.String })
    )
  }).handle(({ input }) => runPayouts(input ?? {})),
  g.post("/payouts/:id/retry", { ...admin, summary: "Send a failed payout again" })
    .handle(({ params }) => retryPayout(params.id)),
  g.post("/payouts/:id/complete", {
    ...admin,
    summary: "Say that a payout has arrived",
    input: Schema.Struct({ reference: Text })
  }).handle(({ input, params }) => completePayout(params.id, input.reference)),
  g.post("/payouts/:id/fail", {
    ...admin,
    summary: "Say that a payout did not arrive",
    description: "The amount is part of the vendor's balance again.",
    input: Schema.Struct({ reason: FreeText.check(Schema.isBetweenLength(1, 2_000)) })
  }).handle(({ input, params }) => failPayout(params.id, input.reason)),
  g.list("/vendor/me/payouts", { ...portal, summary: "List own payouts", query: { status }, success })
    .handle(({ actor, db, page, query }) => db.table(payouts).page({ ...query, vendorId: ownVendor(actor) }, page))
]
