import { Schema, SchemaTransformation } from "effect"
import { getRandomValues } from "node:crypto"
import { NIL, v7 } from "uuid"

/** A UUID of any version and case (spec §1 conventions), decoded to lower case: ids are compared as text. */
export const Uuid = Schema.String.check(Schema.isUUID()).pipe(
  Schema.decodeTo(Schema.String, SchemaTransformation.toLowerCase())
)

export const EntityId = Uuid.pipe(Schema.brand("EntityId"))
export type EntityId = typeof EntityId.Type
export const VariantId = Uuid.pipe(Schema.brand("VariantId"))
export type VariantId = typeof VariantId.Type
export const OptionTypeId = Uuid.pipe(Schema.brand("OptionTypeId"))
export type OptionTypeId = typeof OptionTypeId.Type
export const OptionValueId = Uuid.pipe(Schema.brand("OptionValueId"))
export type OptionValueId = typeof OptionValueId.Type
export const CategoryId = Uuid.pipe(Schema.brand("CategoryId"))
export type CategoryId = typeof CategoryId.Type
export const BrandId = Uuid.pipe(Schema.brand("BrandId"))
export type BrandId = typeof BrandId.Type
export const FieldDefinitionId = Uuid.pipe(Schema.brand("FieldDefinitionId"))
export type FieldDefinitionId = typeof FieldDefinitionId.Type
export const CartId = Uuid.pipe(Schema.brand("CartId"))
export type CartId = typeof CartId.Type
export const CartLineId = Uuid.pipe(Schema.brand("CartLineId"))
export type CartLineId = typeof CartLineId.Type
export const OrderId = Uuid.pipe(Schema.brand("OrderId"))
export type OrderId = typeof OrderId.Type
export const OrderLineId = Uuid.pipe(Schema.brand("OrderLineId"))
export type OrderLineId = typeof OrderLineId.Type
export const PaymentId = Uuid.pipe(Schema.brand("PaymentId"))
export type PaymentId = typeof PaymentId.Type
export const CollectedPaymentId = Uuid.pipe(Schema.brand("CollectedPaymentId"))
export type CollectedPaymentId = typeof CollectedPaymentId.Type
export const OrderNoteId = Uuid.pipe(Schema.brand("OrderNoteId"))
export type OrderNoteId = typeof OrderNoteId.Type
export const CustomerId = Uuid.pipe(Schema.brand("CustomerId"))
export type CustomerId = typeof CustomerId.Type
export const CustomerGroupId = Uuid.pipe(Schema.brand("CustomerGroupId"))
export type CustomerGroupId = typeof CustomerGroupId.Type
export const AddressId = Uuid.pipe(Schema.brand("AddressId"))
export type AddressId = typeof AddressId.Type
export const InteractionId = Uuid.pipe(Schema.brand("InteractionId"))
export type InteractionId = typeof InteractionId.Type
export const WarehouseId = Uuid.pipe(Schema.brand("WarehouseId"))
export type WarehouseId = typeof WarehouseId.Type
export const StockLevelId = Uuid.pipe(Schema.brand("StockLevelId"))
export type StockLevelId = typeof StockLevelId.Type
export const FulfillmentId = Uuid.pipe(Schema.brand("FulfillmentId"))
export type FulfillmentId = typeof FulfillmentId.Type
export const RefundId = Uuid.pipe(Schema.brand("RefundId"))
export type RefundId = typeof RefundId.Type
export const ReturnId = Uuid.pipe(Schema.brand("ReturnId"))
export type ReturnId = typeof ReturnId.Type
export const CompensationFailureId = Uuid.pipe(Schema.brand("CompensationFailureId"))
export type CompensationFailureId = typeof CompensationFailureId.Type
export const PromotionId = Uuid.pipe(Schema.brand("PromotionId"))
export type PromotionId = typeof PromotionId.Type
export const PriceId = Uuid.pipe(Schema.brand("PriceId"))
export type PriceId = typeof PriceId.Type
export const PriceModifierId = Uuid.pipe(Schema.brand("PriceModifierId"))
export type PriceModifierId = typeof PriceModifierId.Type
export const TaxClassId = Uuid.pipe(Schema.brand("TaxClassId"))
export type TaxClassId = typeof TaxClassId.Type
export const TaxRateId = Uuid.pipe(Schema.brand("TaxRateId"))
export type TaxRateId = typeof TaxRateId.Type
export const ShippingZoneId = Uuid.pipe(Schema.brand("ShippingZoneId"))
export type ShippingZoneId = typeof ShippingZoneId.Type
export const ShippingRateId = Uuid.pipe(Schema.brand("ShippingRateId"))
export type ShippingRateId = typeof ShippingRateId.Type
export const MediaAssetId = Uuid.pipe(Schema.brand("MediaAssetId"))
export type MediaAssetId = typeof MediaAssetId.Type
export const WebhookEndpointId = Uuid.pipe(Schema.brand("WebhookEndpointId"))
export type WebhookEndpointId = typeof WebhookEndpointId.Type
export const WebhookDeliveryId = Uuid.pipe(Schema.brand("WebhookDeliveryId"))
export type WebhookDeliveryId = typeof WebhookDeliveryId.Type
export const OrderMessageId = Uuid.pipe(Schema.brand("OrderMessageId"))
export type OrderMessageId = typeof OrderMessageId.Type
export const JobId = Uuid.pipe(Schema.brand("JobId"))
export type JobId = typeof JobId.Type
export const ImportId = Uuid.pipe(Schema.brand("ImportId"))
export type ImportId = typeof ImportId.Type
export const ApiKeyId = Uuid.pipe(Schema.brand("ApiKeyId"))
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
