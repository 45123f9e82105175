import { Schema } from "effect"
import { setting } from "stoa/plugin"

/** What a deployment decides of its purchases (contract, plugins §5 and §17.16). */
export const ProcurementSettings = Schema.Struct({
  overReceiptPercent: setting(
    Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 100 })),
    0,
    "How much more than was ordered may be received of a line, in percent"
  ),
  approvalLimit: setting(
    Schema.Record(Schema.String, Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))),
    {},
    "The highest total that a role may approve, in minor units of the store's currency; others approve all. API keys with a scope are of the role api_key"
  )
})
export type ProcurementSettings = typeof ProcurementSettings.Type
