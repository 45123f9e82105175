import { Schema } from "effect"
import { option } from "stoa/plugin"

/** What a deployment decides of its purchases (contract, plugins §5 and §17.16). */
export const ProcurementSettings = Schema.Struct({
  overReceiptPercent: option(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 100 })), {
    default: 0,
    description: "How much more than was ordered may be received of a line, in percent"
  }),
  costTolerancePercent: option(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 100 })), {
    default: 5,
    description:
      "How far the cost of a receipt's line may be above or below that of the order, in percent, without being a discrepancy"
  }),
  approvalLimit: option(Schema.Record(Schema.String, Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))), {
    default: {},
    description:
      "The highest total that a role may approve, in minor units of the store's currency; others approve all. API keys with a scope are of the role api_key"
  })
})
export type ProcurementSettings = typeof ProcurementSettings.Type
