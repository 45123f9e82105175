import { Schema } from "effect"
import { CatalogRecord } from "../catalog/import-export/CatalogRecord.ts"
import { maybe, Moment } from "../pricing/Bounds.ts"

const options = Schema.optional(Schema.Record(Schema.String, Schema.String))

/** A decimal number in major units, as other shops write prices. */
const Decimal = Schema.String.check(Schema.isPattern(/^\d{1,15}(\.\d{1,6})?$/))

/**
 * A product of another shop's file: what it is in the catalog, and what its variants cost and how many there are. Prices
 * are in major units of the currency that the import names.
 */
export const ExternalRecord = Schema.Struct({
  product: CatalogRecord,
  prices: Schema.Array(Schema.Struct({
    sku: Schema.optional(Schema.String),
    options,
    amount: Decimal,
    compareAtAmount: Schema.optional(Decimal),
    validFrom: maybe(Moment),
    validUntil: maybe(Moment)
  })),
  stock: Schema.Array(Schema.Struct({
    sku: Schema.optional(Schema.String),
    options,
    onHand: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2_147_483_647 })),
    unitCost: Schema.optional(Decimal)
  }))
})
export type ExternalRecord = typeof ExternalRecord.Type
