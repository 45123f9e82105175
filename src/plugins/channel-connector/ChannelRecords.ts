import { Schema } from "effect"
import { about, Amount, CurrencyCode, DraftProduct, Text } from "stoa/plugin"

/** Units that a store can sell; null: it does not count them. */
const Available = Schema.NullOr(Schema.Int)

/** A product of a store, read as the files of that shop are (`readExternal`). */
export const ChannelProduct = Schema.Struct({
  externalId: Text,
  /** The slug that it gets here, if no other product has it. */
  slug: Text,
  draft: DraftProduct,
  /** The store's ids of `draft.sold`, in its order. */
  unitIds: Schema.NonEmptyArray(Text)
})
export type ChannelProduct = typeof ChannelProduct.Type

/** A page of the catalog; null as `nextCursor` ends it. */
export const CatalogPage = Schema.Struct({
  items: Schema.Array(ChannelProduct),
  nextCursor: Schema.NullOr(Schema.String)
})
export type CatalogPage = typeof CatalogPage.Type

/** Place of a field at a store. */
export const RemoteField = Schema.Struct({
  target: Schema.Literals(["native", "attribute", "meta"])
    .pipe(about("Kind of the field at the store: of the product (`native`), an attribute, or meta data.")),
  remoteKey: Text.pipe(about("Name of the field at the store, such as `name`."))
})
export type RemoteField = typeof RemoteField.Type

/** Value of a field at a store; null: there is none. */
export const FieldValue = Schema.Struct({ ...RemoteField.fields, value: Schema.NullOr(Schema.String) })
export type FieldValue = typeof FieldValue.Type

/** Mapping of a field (`attributes.*.title`) to its place at a store. */
export const MappedField = Schema.Struct({
  fieldPath: Text.pipe(about("Path of our field, such as `attributes.en.title`; `*` stands for any part.")),
  provider: Schema.optional(Text.pipe(about("Provider that the row is for; without it all."))),
  ...RemoteField.fields
})
export type MappedField = typeof MappedField.Type

/** Stock of a variant by its id at the store. */
export const StockLevel = Schema.Struct({
  externalId: Text,
  available: Available,
  /** True where it cannot be set alone: variants share it, or the variant is turned off there. */
  isFixed: Schema.optional(Schema.Boolean)
})
export type StockLevel = typeof StockLevel.Type

/** A level to set, if the store still has the expected one. */
export const StockChange = Schema.Struct({ externalId: Text, available: Schema.Int, expected: Available })
export type StockChange = typeof StockChange.Type

/** What became of a change: `differs` leaves the level as it is, which is not the expected one. */
export const StockOutcome = Schema.Struct({ ...StockLevel.fields, outcome: Schema.Literals(["set", "differs"]) })
export type StockOutcome = typeof StockOutcome.Type

/**
 * The lines of an order that one store ships, in minor units. Lines, shipping and tax come to `grandTotal`; `totalPrice` is
 * `unitPrice` times `quantity`.
 */
export const OrderSlice = Schema.Struct({
  /** Ours: the store keeps it, so that the order is found by it. */
  orderId: Text,
  orderNumber: Text,
  currency: CurrencyCode,
  grandTotal: Amount,
  shippingTotal: Amount,
  taxTotal: Amount,
  pricesIncludeTax: Schema.Boolean,
  lines: Schema.NonEmptyArray(Schema.Struct({
    externalVariantId: Text,
    sku: Schema.NullOr(Text),
    title: Schema.String,
    quantity: Schema.Int,
    unitPrice: Amount,
    totalPrice: Amount
  })),
  customer: Schema.Struct({
    name: Schema.String,
    email: Schema.String,
    shippingAddress: Schema.Record(Schema.String, Schema.Unknown)
  })
})
export type OrderSlice = typeof OrderSlice.Type

const RemoteUnits = Schema.Struct({ externalVariantId: Text, quantity: Schema.Int })

/** An order as the store has it. */
export const RemoteOrder = Schema.Struct({
  remoteOrderId: Text,
  /** For staff. */
  remoteUrl: Schema.NullOr(Schema.String),
  status: Schema.Literals(["open", "fulfilled", "cancelled"]),
  fulfillments: Schema.Array(Schema.Struct({
    externalId: Text,
    lines: Schema.Array(RemoteUnits),
    trackingNumber: Schema.NullOr(Schema.String),
    trackingUrl: Schema.NullOr(Schema.String)
  })),
  refunds: Schema.Array(Schema.Struct({ remoteRefundId: Text, amount: Amount, lines: Schema.Array(RemoteUnits) }))
})
export type RemoteOrder = typeof RemoteOrder.Type

/** What a webhook is about. It is a hint: the store is asked what is true now. */
export const Hint = Schema.Union([
  Schema.Struct({
    kind: Schema.Literals(["product", "stock", "order"]).pipe(about("Kind of the record that changed.")),
    externalId: Text
  }),
  Schema.Struct({ kind: Schema.Literal("uninstalled").pipe(about("The merchant removed the app.")) })
])
export type Hint = typeof Hint.Type

/** What a provider asks of an app about personal data. */
export const ComplianceRequest = Schema.Union([
  Schema.Struct({
    kind: Schema.Literals(["customerData", "forgetCustomer"]),
    email: Schema.NullOr(Schema.String),
    remoteOrderIds: Schema.Array(Text)
  }),
  Schema.Struct({ kind: Schema.Literals(["forgetStore", "uninstalled"]) })
])
export type ComplianceRequest = typeof ComplianceRequest.Type
