import { Effect, Schema, Struct } from "effect"
import { LineNotes } from "../../carts/Line.ts"
import { sellableFields } from "../../catalog/Sellables.ts"
import { buyerProfile } from "../../customers/BuyerProfile.ts"
import { isOrderNumber, LineFulfillment } from "../../orders/Order.ts"
import { OrderStatus } from "../../orders/OrderStatus.ts"
import { isoTime } from "../../platform/events/ChangeLogRepo.ts"
import { Amount, CurrencyCode } from "../../platform/money/Money.ts"
import { orderedJsonOf } from "../../platform/records/Table.ts"
import { GivenEmail } from "../../platform/text/Email.ts"
import { maybe, Units } from "../../platform/text/Fields.ts"
import { FreeText, keyText, StorableObject } from "../../platform/text/Storable.ts"
import { Moment } from "../../platform/text/Time.ts"
import { PriceSteps } from "../../pricing/PriceSteps.ts"
import { isNamedByOptions, optionsOf } from "../catalog/ProductRecord.ts"
import { ReturnRecord, returnsJson } from "./OrderReturns.ts"

const maxLines = 2000

const OrderNumber = FreeText.check(
  Schema.makeFilter((text: string) =>
    isOrderNumber(text) ||
    "must have 1 to 64 characters (letters without accents, digits, spaces and . _ # -), begin with a letter, a digit or #, and not be a UUID."
  )
)

const unread = maybe(FreeText)

/**
 * A product is found by SKU, else by slug and options; a missing one keeps its text and amounts. Absent totals are
 * computed.
 */
export const LineRecord = Schema.Struct({
  ...Struct.pick(sellableFields, ["sku", "slug", "options"]),
  title: FreeText,
  variantTitle: maybe(FreeText),
  entityType: maybe(keyText(255)),
  quantity: Units,
  unitPrice: Amount,
  listPrice: maybe(Amount),
  totalPrice: maybe(Amount),
  discountAmount: maybe(Amount),
  taxAmount: maybe(Amount),
  refundedQuantity: maybe(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2_147_483_647 }))),
  fulfillmentStatus: maybe(LineFulfillment),
  notes: Schema.NullOr(LineNotes).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null))),
  metadata: maybe(StorableObject),
  priceSteps: maybe(PriceSteps),
  entityId: unread,
  variantId: unread
})
export type LineRecord = typeof LineRecord.Type

/** An order made elsewhere, identified by its number; amounts in minor units (docs/import-export.md). */
export const OrderRecord = Schema.Struct({
  orderNumber: OrderNumber,
  status: OrderStatus,
  placedAt: Moment,
  /** One that is no address is kept with a warning: no mail is sent to it. */
  email: maybe(GivenEmail),
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
  billingAddress: maybe(StorableObject),
  metadata: maybe(StorableObject),
  lineItems: Schema.Array(LineRecord).check(Schema.isMinLength(1), Schema.isMaxLength(maxLines)),
  returns: maybe(Schema.Array(ReturnRecord)),
  id: unread,
  customer: maybe(StorableObject),
  customerId: unread
}).annotate({ identifier: "OrderRecord" })
export type OrderRecord = typeof OrderRecord.Type

const linesOf = (o: string) =>
  `(select coalesce(json_agg(${
    orderedJsonOf(Struct.omit(LineRecord.fields, ["entityId", "variantId"]), "l", {
      slug: `(select e.slug from catalog_entities_read e
        where e.id = l.entity_id and e.organization_id = l.organization_id)`,
      options: `(select ${optionsOf("v.id", "v.organization_id")}::jsonb from variants_read v
        where v.id = l.variant_id and v.organization_id = l.organization_id and ${isNamedByOptions("v")})`
    })
  } order by l.position), '[]')
  from order_lines l where l.order_id = ${o}.id and l.organization_id = ${o}.organization_id)`

const billingIn = (o: string) =>
  `case when jsonb_typeof(${o}.metadata->'billingAddress') = 'object' then ${o}.metadata->'billingAddress' end`

export const orderRecordJson = (o: string): string =>
  orderedJsonOf(Struct.omit(OrderRecord.fields, ["customerId", "id"]), o, {
    placedAt: isoTime(`${o}.placed_at`),
    email: `coalesce(${o}.email, (select c.email from customers_read c
      where c.id = ${o}.customer_id and c.organization_id = ${o}.organization_id))`,
    billingAddress: billingIn(o),
    customer: `${buyerProfile(o)} - 'email'`,
    fulfilledAt: isoTime(`${o}.fulfilled_at`),
    cancelledAt: isoTime(`${o}.cancelled_at`),
    lineItems: linesOf(o),
    returns: returnsJson(o)
  })
