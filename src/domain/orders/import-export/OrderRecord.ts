import { Schema } from "effect"
import { sellableFields } from "../../catalog/Sellables.ts"
import { Email } from "../../customers/Customer.ts"
import { CurrencyCode } from "../../money/Currency.ts"
import { Amount, maybe, Moment, Units } from "../../pricing/Bounds.ts"
import { FreeText, keyText, StorableObject } from "../../text/Storable.ts"
import { isOrderNumber, LineFulfillment } from "../Order.ts"
import { OrderStatus } from "../OrderStatus.ts"

/** Most lines of an order in a file. */
const mostLines = 2000

const OrderNumber = FreeText.check(
  Schema.makeFilter((text: string) =>
    isOrderNumber(text) ||
    "must have 1 to 64 characters (letters without accents, digits, space . _ # -), begin with one of them or #, and be no UUID"
  )
)

/** Told by older exports: ids are a store's own, and nobody reads them. */
const Unread = maybe(FreeText)

/**
 * A line of an order in a file. What it is of is found by SKU, else by slug and options; a thing that is not in the catalog
 * any more stays a line with its words and amounts. Absent totals are made of the quantity and the order's.
 */
export const LineRecord = Schema.Struct({
  ...sellableFields,
  title: FreeText,
  entityType: maybe(keyText(255)),
  quantity: Units,
  unitPrice: Amount,
  totalPrice: maybe(Amount),
  discountAmount: maybe(Amount),
  taxAmount: maybe(Amount),
  refundedQuantity: maybe(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2_147_483_647 }))),
  fulfillmentStatus: maybe(LineFulfillment),
  entityId: Unread,
  variantId: Unread
})
export type LineRecord = typeof LineRecord.Type

/**
 * An order as files carry it: known by its number, amounts in minor units of its currency (docs/import-export.md). It was
 * placed, paid and sent elsewhere; what it says comes in as a record.
 */
export const OrderRecord = Schema.Struct({
  orderNumber: OrderNumber,
  status: OrderStatus,
  placedAt: Moment,
  email: maybe(Email),
  currency: CurrencyCode,
  subtotal: maybe(Amount),
  discountTotal: maybe(Amount),
  shippingTotal: maybe(Amount),
  taxTotal: maybe(Amount),
  taxIncluded: maybe(Schema.Boolean),
  grandTotal: Amount,
  amountCaptured: maybe(Amount),
  refundedTotal: maybe(Amount),
  fulfilledAt: maybe(Moment),
  cancelledAt: maybe(Moment),
  shippingAddress: maybe(StorableObject),
  metadata: maybe(StorableObject),
  lineItems: Schema.Array(LineRecord).check(Schema.isMinLength(1), Schema.isMaxLength(mostLines)),
  id: Unread,
  customerId: Unread
}).annotate({ identifier: "OrderRecord" })
export type OrderRecord = typeof OrderRecord.Type
