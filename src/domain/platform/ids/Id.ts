import { Schema, SchemaTransformation } from "effect"
import { getRandomValues } from "node:crypto"
import { NIL, v7 } from "uuid"
import { hinted } from "../hints/Hints.ts"

/** A UUID of any version and case (spec §1 conventions), decoded to lower case: ids are compared as text. */
export const Uuid = Schema.String.check(Schema.isUUID()).pipe(
  Schema.decodeTo(Schema.String, SchemaTransformation.toLowerCase())
)

/** Stores are organizations. */
export const OrganizationId = Schema.String.annotate({ description: "The store that it belongs to." })

/** An id of a kind of record, which the document says of each field that has one. */
const recordId = (ref: string, noun: string) => Uuid.pipe(Schema.annotateEncoded(hinted(`Id of ${noun}.`, { ref })))

export const EntityId = recordId("entities", "an entity of the catalog").pipe(Schema.brand("EntityId"))
export type EntityId = typeof EntityId.Type
export const VariantId = recordId("variants", "a variant of an entity").pipe(Schema.brand("VariantId"))
export type VariantId = typeof VariantId.Type
export const OptionTypeId = recordId("optionTypes", "an option, such as the size").pipe(Schema.brand("OptionTypeId"))
export type OptionTypeId = typeof OptionTypeId.Type
export const OptionValueId = recordId("optionValues", "a value of an option, such as XL").pipe(
  Schema.brand("OptionValueId")
)
export type OptionValueId = typeof OptionValueId.Type
export const CategoryId = recordId("categories", "a category").pipe(Schema.brand("CategoryId"))
export type CategoryId = typeof CategoryId.Type
export const BrandId = recordId("brands", "a brand").pipe(Schema.brand("BrandId"))
export type BrandId = typeof BrandId.Type
export const FieldDefinitionId = recordId("fieldDefinitions", "a custom field").pipe(Schema.brand("FieldDefinitionId"))
export type FieldDefinitionId = typeof FieldDefinitionId.Type
export const CartId = recordId("carts", "a cart").pipe(Schema.brand("CartId"))
export type CartId = typeof CartId.Type
export const CartLineId = recordId("cartLines", "a line of a cart").pipe(Schema.brand("CartLineId"))
export type CartLineId = typeof CartLineId.Type
export const OrderId = recordId("orders", "an order").pipe(Schema.brand("OrderId"))
export type OrderId = typeof OrderId.Type
export const OrderLineId = recordId("orderLines", "a line of an order").pipe(Schema.brand("OrderLineId"))
export type OrderLineId = typeof OrderLineId.Type
export const PaymentId = recordId("payments", "a payment").pipe(Schema.brand("PaymentId"))
export type PaymentId = typeof PaymentId.Type
export const CollectedPaymentId = recordId("collectedPayments", "a payment that was recorded by hand").pipe(
  Schema.brand("CollectedPaymentId")
)
export type CollectedPaymentId = typeof CollectedPaymentId.Type
export const OrderNoteId = recordId("orderNotes", "a note at an order").pipe(Schema.brand("OrderNoteId"))
export type OrderNoteId = typeof OrderNoteId.Type
export const CustomerId = recordId("customers", "a customer").pipe(Schema.brand("CustomerId"))
export type CustomerId = typeof CustomerId.Type
export const CustomerGroupId = recordId("customerGroups", "a group of customers").pipe(Schema.brand("CustomerGroupId"))
export type CustomerGroupId = typeof CustomerGroupId.Type
export const AddressId = recordId("addresses", "an address of a customer").pipe(Schema.brand("AddressId"))
export type AddressId = typeof AddressId.Type
export const InteractionId = recordId("interactions", "a contact with a customer").pipe(Schema.brand("InteractionId"))
export type InteractionId = typeof InteractionId.Type
export const WarehouseId = recordId("warehouses", "a warehouse").pipe(Schema.brand("WarehouseId"))
export type WarehouseId = typeof WarehouseId.Type
export const StockLevelId = recordId("stockLevels", "a stock level").pipe(Schema.brand("StockLevelId"))
export type StockLevelId = typeof StockLevelId.Type
export const FulfillmentId = recordId("fulfillments", "a fulfillment").pipe(Schema.brand("FulfillmentId"))
export type FulfillmentId = typeof FulfillmentId.Type
export const RefundId = recordId("refunds", "a refund").pipe(Schema.brand("RefundId"))
export type RefundId = typeof RefundId.Type
export const ReturnId = recordId("returns", "a return").pipe(Schema.brand("ReturnId"))
export type ReturnId = typeof ReturnId.Type
export const CompensationFailureId = recordId("compensationFailures", "a compensation that failed").pipe(
  Schema.brand("CompensationFailureId")
)
export type CompensationFailureId = typeof CompensationFailureId.Type
export const PromotionId = recordId("promotions", "a promotion").pipe(Schema.brand("PromotionId"))
export type PromotionId = typeof PromotionId.Type
export const PriceId = recordId("prices", "a price").pipe(Schema.brand("PriceId"))
export type PriceId = typeof PriceId.Type
export const PriceModifierId = recordId("priceModifiers", "a price modifier").pipe(Schema.brand("PriceModifierId"))
export type PriceModifierId = typeof PriceModifierId.Type
export const TaxClassId = recordId("taxClasses", "a tax class").pipe(Schema.brand("TaxClassId"))
export type TaxClassId = typeof TaxClassId.Type
export const TaxRateId = recordId("taxRates", "a tax rate").pipe(Schema.brand("TaxRateId"))
export type TaxRateId = typeof TaxRateId.Type
export const ShippingZoneId = recordId("shippingZones", "a shipping zone").pipe(Schema.brand("ShippingZoneId"))
export type ShippingZoneId = typeof ShippingZoneId.Type
export const ShippingRateId = recordId("shippingRates", "a shipping rate").pipe(Schema.brand("ShippingRateId"))
export type ShippingRateId = typeof ShippingRateId.Type
export const MediaAssetId = recordId("media", "a file of the media library").pipe(Schema.brand("MediaAssetId"))
export type MediaAssetId = typeof MediaAssetId.Type
export const WebhookEndpointId = recordId("webhookEndpoints", "a webhook endpoint").pipe(
  Schema.brand("WebhookEndpointId")
)
export type WebhookEndpointId = typeof WebhookEndpointId.Type
export const WebhookDeliveryId = recordId("webhookDeliveries", "a delivery to a webhook endpoint").pipe(
  Schema.brand("WebhookDeliveryId")
)
export type WebhookDeliveryId = typeof WebhookDeliveryId.Type
export const OrderMessageId = recordId("orderMessages", "a message about an order").pipe(Schema.brand("OrderMessageId"))
export type OrderMessageId = typeof OrderMessageId.Type
export const JobId = recordId("jobs", "a job").pipe(Schema.brand("JobId"))
export type JobId = typeof JobId.Type
export const ImportId = recordId("imports", "an import").pipe(Schema.brand("ImportId"))
export type ImportId = typeof ImportId.Type
export const ApiKeyId = recordId("apiKeys", "an API key").pipe(Schema.brand("ApiKeyId"))
export type ApiKeyId = typeof ApiKeyId.Type

const pattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Tells a record id from a slug or an order number: `isUuid<OrderId>(idOrNumber)`. */
export const isUuid = <Id extends string = string>(value: string): value is Id => pattern.test(value)

export const nilId: string = NIL

/** Random bytes for 256 ids: a system call per id costs more than the rest. */
const pool = new Uint8Array(256 * 16)
let used = pool.length

const random = (): Uint8Array => {
  if (used === pool.length) {
    getRandomValues(pool)
    used = 0
  }
  used += 16
  return pool.subarray(used - 16, used)
}

let sequence = 0

/** A new UUIDv7: rows created together are adjacent in indexes. */
export const newId = <Id extends string = string>(): Id => {
  sequence = (sequence + 1) >>> 0
  return v7({ random: random(), seq: sequence }) as Id
}
