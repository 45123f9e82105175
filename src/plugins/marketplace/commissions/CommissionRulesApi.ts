import { Schema } from "effect"
import { Amount, group, Moment, Text, Uuid } from "stoa/plugin"
import { tiers } from "../vendors/VendorTables.ts"
import { commissionRules, ruleTypes } from "./CommissionTables.ts"

const g = group("Marketplace commissions", "/marketplace")
const permission = "marketplace:admin"

const Rate = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 10_000 })).annotate({
  description: "Basis points: 1000 is 10 %."
})
const Priority = Schema.Int.check(Schema.isBetween({ minimum: -1_000_000, maximum: 1_000_000 }))
const open = <A, E>(schema: Schema.Codec<A, E>) => Schema.optional(Schema.NullOr(schema))

/** What rules of every type may say; null is open. */
const fields = {
  categorySlug: open(Text),
  vendorTier: open(Schema.Literals(tiers)),
  minVolumeCents: open(Amount),
  maxVolumeCents: open(Amount),
  fixedFeeCents: Schema.optional(Amount),
  minFeeCents: open(Amount),
  maxFeeCents: open(Amount),
  validFrom: open(Moment),
  validUntil: open(Moment),
  priority: Schema.optional(Priority),
  isActive: Schema.optional(Schema.Boolean)
}

export const listRules = g.list("/commission-rules", {
  summary: "List commission rules, the highest priority first",
  permission,
  success: commissionRules.Row
})

export const createRule = g.post("/commission-rules", {
  summary: "Make a commission rule",
  permission,
  input: Schema.Struct({
    name: Text,
    type: Schema.Literals(ruleTypes),
    rateBps: Rate,
    vendorId: open(Uuid),
    ...fields
  }),
  success: commissionRules.Row
})

export const updateRule = g.patch("/commission-rules/:id", {
  summary: "Change a commission rule; null opens a bound",
  permission,
  input: Schema.Struct({ name: Schema.optional(Text), rateBps: Schema.optional(Rate), ...fields }),
  success: commissionRules.Row
})

export const deleteRule = g.delete("/commission-rules/:id", {
  summary: "Delete a commission rule",
  permission,
  success: Schema.Struct({ deleted: Schema.Literal(true) })
})

export const previewCommission = g.post("/commission-rules/preview", {
  summary: "Say which commission a sale would have",
  permission,
  input: Schema.Struct({
    vendorId: Uuid,
    categorySlug: Schema.optional(Text),
    volumeCents: Schema.optional(
      Amount.annotate({ description: "Sold in the last thirty days; default: what the vendor really sold." })
    )
  }),
  success: Schema.Struct({
    rateBps: Schema.Int,
    ratePercent: Schema.Number.annotate({ description: "The same in percent." }),
    ruleId: Schema.NullOr(Uuid)
  })
})
