import { Schema } from "effect"
import { CurrencyCode, FreeText, group } from "stoa/plugin"
import { adjustments } from "./LedgerTables.ts"

const g = group("Marketplace payouts", "/marketplace")
const permission = "marketplace:admin"

/** More than anybody adjusts, so that sums stay far from what a number can count. */
const most = 100_000_000_000

export const adjustBalance = g.post("/vendors/:id/adjustments", {
  summary: "Add to what a vendor is owed, or take off it",
  description: "Part of the next payout; a negative balance is carried.",
  permission,
  input: Schema.Struct({
    amountCents: Schema.Int.check(
      Schema.isBetween({ minimum: -most, maximum: most }),
      Schema.makeFilter((amount: number) => amount !== 0 || "must not be 0")
    ).annotate({ description: "Signed, minor units." }),
    currency: CurrencyCode,
    reason: FreeText.check(Schema.isBetweenLength(1, 2_000))
  }),
  success: adjustments.Row
})

export const listAdjustments = g.list("/vendors/:id/adjustments", {
  summary: "List adjustments of a vendor",
  permission,
  success: adjustments.Row
})
