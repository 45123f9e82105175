import { Schema } from "effect"
import { FreeText, group, Text, Uuid } from "stoa/plugin"
import { portal } from "../parties/VendorPortal.ts"
import { payouts, payoutStatuses } from "./PayoutTables.ts"

const routes = group("Marketplace payouts", "/marketplace")
const permission = "marketplace:admin"
const status = Schema.optional(Schema.Literals(payoutStatuses))

const RunRequest = Schema.Struct({
  vendorIds: Schema.optional(Schema.Array(Uuid).check(Schema.isMaxLength(1_000))),
  force: Schema.optional(Schema.Boolean)
})

const MadePayout = Schema.Struct({
  vendorId: Uuid,
  payoutId: Uuid,
  netAmount: Schema.Int,
  currency: Schema.String
})

export const listPayouts = routes.list("/payouts", {
  summary: "List payouts",
  permission,
  query: { vendorId: Schema.optional(Uuid), status },
  success: payouts.Row
})

export const readPayout = routes.get("/payouts/:id", { summary: "Read a payout", permission, success: payouts.Row })

export const runPayouts = routes.post("/payouts/run", {
  summary: "Pay vendors",
  description:
    "Pays out what is due to the named vendors, or to all approved ones. `force`: also less than their minimum.",
  permission,
  input: Schema.NullOr(RunRequest),
  success: Schema.Array(MadePayout)
})

export const retryPayout = routes.post("/payouts/:id/retry", {
  summary: "Send a failed payout again",
  permission,
  success: payouts.Row
})

export const completePayout = routes.post("/payouts/:id/complete", {
  summary: "Say that a payout has arrived",
  permission,
  input: Schema.Struct({ reference: Text }),
  success: payouts.Row
})

export const failPayout = routes.post("/payouts/:id/fail", {
  summary: "Say that a payout did not arrive",
  description: "The amount is part of the vendor's balance again.",
  permission,
  input: Schema.Struct({ reason: FreeText.check(Schema.isBetweenLength(1, 2_000)) }),
  success: payouts.Row
})

export const listOwnPayouts = routes.list("/vendor/me/payouts", {
  summary: "List own payouts",
  ...portal,
  query: { status },
  success: payouts.Row
})
