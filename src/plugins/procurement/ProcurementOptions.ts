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
      "Percent by which the cost in a receipt may differ from the order, and a credit note from the expected credit, without a discrepancy"
  }),
  approvalLimit: option(Schema.Record(Schema.String, Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))), {
    default: {},
    description:
      "The highest total that a role may approve, in minor units of the store's currency; others approve all. API keys with a scope are of the role api_key"
  }),
  fourEyes: option(Schema.Boolean, {
    default: true,
    description: "Whether another person than the one who requested or last changed an order has to approve it"
  }),
  exchangeRates: option(
    Schema.Record(
      Schema.String.check(Schema.isPattern(/^[A-Z]{3}$/, { expected: "a currency code" })),
      Schema.String.check(
        Schema.isPattern(/^(?!0+(\.0+)?$)\d{1,10}(\.\d{1,10})?$/, { expected: "a decimal above 0" })
      )
    ),
    {
      default: {},
      description:
        "How many minor units of the store's currency one of another currency is worth: an approval limit counts an order at this rate or the written one, whichever is higher. A role with a limit approves no orders in other currencies"
    }
  )
})
export type ProcurementSettings = typeof ProcurementSettings.Type
