import { buildSchema, type GraphQLSchema } from "graphql"

/** Versions that the emulated Shopify serves. Others fall forward to the next one. */
export const shopifyVersions = ["2026-01", "2026-04", "2026-07", "2026-10"] as const
export type ShopifyVersion = (typeof shopifyVersions)[number]

/** The version that answers a request, or undefined if there is none: it is newer than all, or no version. */
export const servedVersion = (asked: string): ShopifyVersion | undefined =>
  /^\d{4}-(01|04|07|10)$/.test(asked) ? shopifyVersions.find((one) => one >= asked) : undefined

const connections = [
  "Product",
  "ProductVariant",
  "Media",
  "Metafield",
  "InventoryLevel",
  "Location",
  "Order",
  "LineItem",
  "FulfillmentLineItem",
  "RefundLineItem",
  "WebhookSubscription",
  "BulkOperation"
].map((name) => `
  type ${name}Edge { cursor: String! node: ${name}! }
  type ${name}Connection { edges: [${name}Edge!]! nodes: [${name}!]! pageInfo: PageInfo! }`).join("")

const catalog = `
  enum ProductStatus { ACTIVE ARCHIVED DRAFT UNLISTED }
  enum ProductVariantInventoryPolicy { CONTINUE DENY }
  enum ProductSortKeys { CREATED_AT ID TITLE UPDATED_AT }
  enum MediaContentType { EXTERNAL_VIDEO IMAGE MODEL_3D VIDEO }
  type Shop implements Node { id: ID! name: String! currencyCode: CurrencyCode! taxesIncluded: Boolean!
    myshopifyDomain: String! ianaTimezone: String! }
  type Product implements Node { id: ID! legacyResourceId: UnsignedInt64! title: String! handle: String!
    status: ProductStatus! descriptionHtml: HTML! vendor: String! productType: String! tags: [String!]!
    createdAt: DateTime! updatedAt: DateTime! publishedAt: DateTime hasOnlyDefaultVariant: Boolean!
    totalInventory: Int! isGiftCard: Boolean! category: TaxonomyCategory seo: SEO!
    metafields(first: Int, after: String, namespace: String, keys: [String!]): MetafieldConnection!
    options(first: Int): [ProductOption!]! variants(first: Int, after: String): ProductVariantConnection!
    media(first: Int, after: String): MediaConnection! }
  type TaxonomyCategory implements Node { id: ID! name: String! fullName: String! }
  type SEO { title: String description: String }
  type ProductOption { id: ID! name: String! position: Int! values: [String!]! }
  type SelectedOption { name: String! value: String! }
  type ProductVariant implements Node { id: ID! legacyResourceId: UnsignedInt64! title: String! sku: String
    barcode: String price: Money! compareAtPrice: Money position: Int! inventoryPolicy: ProductVariantInventoryPolicy!
    inventoryQuantity: Int taxable: Boolean! createdAt: DateTime! updatedAt: DateTime!
    selectedOptions: [SelectedOption!]! inventoryItem: InventoryItem! product: Product!
    media(first: Int, after: String): MediaConnection! }
  interface Media { id: ID! alt: String mediaContentType: MediaContentType! }
  type Image { id: ID url: URL! altText: String width: Int height: Int }
  type MediaImage implements Media & Node { id: ID! alt: String mediaContentType: MediaContentType! image: Image }
  type Location implements Node { id: ID! name: String! isActive: Boolean! fulfillsOnlineOrders: Boolean! }
  type InventoryItem implements Node { id: ID! sku: String tracked: Boolean! requiresShipping: Boolean!
    unitCost: MoneyV2 measurement: InventoryItemMeasurement!
    variant: ProductVariant! @deprecated(reason: "Use variants instead.")
    variants(first: Int, after: String): ProductVariantConnection inventoryLevel(locationId: ID!): InventoryLevel
    inventoryLevels(first: Int, after: String): InventoryLevelConnection! }
  enum WeightUnit { GRAMS KILOGRAMS OUNCES POUNDS }
  type Weight { value: Float! unit: WeightUnit! }
  type InventoryItemMeasurement { id: ID! weight: Weight }
  type InventoryLevel implements Node { id: ID! location: Location! item: InventoryItem! updatedAt: DateTime!
    quantities(names: [String!]!): [InventoryQuantity!]! }
  type InventoryQuantity { id: ID! name: String! quantity: Int! updatedAt: DateTime }
  input ProductUpdateInput { id: ID! title: String handle: String descriptionHtml: String vendor: String
    productType: String tags: [String!] status: ProductStatus seo: SEOInput }
  input SEOInput { title: String description: String }
  input MetafieldsSetInput { ownerId: ID! namespace: String key: String! value: String! type: String
    compareDigest: String }
  type MetafieldsSetUserError { code: String field: [String!] message: String! elementIndex: Int }
  type MetafieldsSetPayload { metafields: [Metafield!] userErrors: [MetafieldsSetUserError!]! }
  input MetafieldIdentifierInput { ownerId: ID! namespace: String! key: String! }
  type MetafieldIdentifier { ownerId: ID! namespace: String! key: String! }
  type MetafieldsDeletePayload { deletedMetafields: [MetafieldIdentifier] userErrors: [UserError!]! }
  type ProductUpdatePayload { product: Product userErrors: [UserError!]! }
  type InventoryAdjustmentGroup { id: ID! reason: String! referenceDocumentUri: String createdAt: DateTime! }
  type InventorySetQuantitiesUserError { code: String field: [String!] message: String! }
  type InventorySetQuantitiesPayload { inventoryAdjustmentGroup: InventoryAdjustmentGroup
    userErrors: [InventorySetQuantitiesUserError!]! }`

const orders = `
  enum OrderSortKeys { CREATED_AT ID PROCESSED_AT UPDATED_AT }
  enum OrderDisplayFinancialStatus { AUTHORIZED PAID PARTIALLY_PAID PARTIALLY_REFUNDED PENDING REFUNDED VOIDED }
  enum OrderDisplayFulfillmentStatus { FULFILLED PARTIALLY_FULFILLED UNFULFILLED }
  enum OrderCreateInputsInventoryBehavior { BYPASS DECREMENT_IGNORING_POLICY DECREMENT_OBEYING_POLICY }
  enum OrderCreateFinancialStatus { AUTHORIZED PAID PARTIALLY_PAID PENDING }
  enum OrderTransactionKind { AUTHORIZATION CAPTURE REFUND SALE VOID }
  enum OrderTransactionStatus { ERROR FAILURE PENDING SUCCESS }
  enum OrderCancelReason { CUSTOMER DECLINED FRAUD INVENTORY OTHER STAFF }
  enum RefundLineItemRestockType { CANCEL NO_RESTOCK RETURN }
  enum FulfillmentStatus { CANCELLED ERROR FAILURE SUCCESS }
  type Attribute { key: String! value: String }
  type Metafield { namespace: String! key: String! value: String! type: String! }
  type Order implements Node { id: ID! legacyResourceId: UnsignedInt64! name: String! email: String note: String
    tags: [String!]! currencyCode: CurrencyCode! taxesIncluded: Boolean! customAttributes: [Attribute!]!
    createdAt: DateTime! updatedAt: DateTime! processedAt: DateTime! cancelledAt: DateTime
    cancelReason: OrderCancelReason displayFinancialStatus: OrderDisplayFinancialStatus
    displayFulfillmentStatus: OrderDisplayFulfillmentStatus! totalPriceSet: MoneyBag! totalTaxSet: MoneyBag
    totalShippingPriceSet: MoneyBag! totalRefundedSet: MoneyBag! sourceIdentifier: String
    metafield(namespace: String, key: String!): Metafield
    lineItems(first: Int, after: String): LineItemConnection! fulfillments(first: Int): [Fulfillment!]!
    refunds(first: Int): [Refund!]! }
  type LineItem implements Node { id: ID! title: String! sku: String quantity: Int! currentQuantity: Int!
    unfulfilledQuantity: Int! variant: ProductVariant originalUnitPriceSet: MoneyBag! }
  type FulfillmentTrackingInfo { company: String number: String url: URL }
  type Fulfillment implements Node { id: ID! status: FulfillmentStatus! createdAt: DateTime! totalQuantity: Int!
    trackingInfo(first: Int): [FulfillmentTrackingInfo!]!
    fulfillmentLineItems(first: Int, after: String): FulfillmentLineItemConnection! }
  type FulfillmentLineItem implements Node { id: ID! quantity: Int lineItem: LineItem! }
  type Refund implements Node { id: ID! createdAt: DateTime note: String totalRefundedSet: MoneyBag!
    refundLineItems(first: Int, after: String): RefundLineItemConnection! }
  type RefundLineItem { id: ID lineItem: LineItem! quantity: Int! restockType: RefundLineItemRestockType!
    restocked: Boolean! subtotalSet: MoneyBag! location: Location }
  input MailingAddressInput { firstName: String lastName: String company: String address1: String address2: String
    city: String provinceCode: String countryCode: CountryCode zip: String phone: String }
  input OrderCreateCustomAttributeInput { key: String! value: String! }
  input MetafieldInput { namespace: String key: String! value: String! type: String! }
  input OrderCreateTaxLineInput { title: String! rate: Decimal! priceSet: MoneyBagInput }
  input OrderCreateLineItemInput { variantId: ID productId: ID title: String sku: String quantity: Int!
    priceSet: MoneyBagInput taxLines: [OrderCreateTaxLineInput!] requiresShipping: Boolean taxable: Boolean }
  input OrderCreateShippingLineInput { title: String! code: String priceSet: MoneyBagInput!
    taxLines: [OrderCreateTaxLineInput!] }
  input OrderCreateOrderTransactionInput { kind: OrderTransactionKind status: OrderTransactionStatus gateway: String
    amountSet: MoneyBagInput! }
  input OrderCreateOrderInput { lineItems: [OrderCreateLineItemInput!] currency: CurrencyCode email: String
    phone: String note: String name: String tags: [String!] customAttributes: [OrderCreateCustomAttributeInput!]
    metafields: [MetafieldInput!] shippingAddress: MailingAddressInput billingAddress: MailingAddressInput
    shippingLines: [OrderCreateShippingLineInput!] taxLines: [OrderCreateTaxLineInput!] transactions: [OrderCreateOrderTransactionInput!]
    financialStatus: OrderCreateFinancialStatus taxesIncluded: Boolean processedAt: DateTime
    sourceIdentifier: String sourceName: String test: Boolean }
  input OrderCreateOptionsInput { inventoryBehaviour: OrderCreateInputsInventoryBehavior = BYPASS
    sendReceipt: Boolean = false sendFulfillmentReceipt: Boolean = false }
  type OrderCreateUserError { code: String field: [String!] message: String! }
  type OrderCreatePayload { order: Order userErrors: [OrderCreateUserError!]! }
  input OrderCancelRefundMethodInput { originalPaymentMethodsRefund: Boolean }
  type OrderCancelUserError { code: String field: [String!] message: String! }
  type OrderCancelPayload { job: Job orderCancelUserErrors: [OrderCancelUserError!]! }
  input RefundLineItemInput { lineItemId: ID! quantity: Int! restockType: RefundLineItemRestockType locationId: ID }
  input ShippingRefundInput { amount: Money fullRefund: Boolean }
  input OrderTransactionInput { orderId: ID! amount: Money! kind: OrderTransactionKind! gateway: String! parentId: ID }
  input RefundInput { orderId: ID! note: String notify: Boolean currency: CurrencyCode
    refundLineItems: [RefundLineItemInput!] shipping: ShippingRefundInput transactions: [OrderTransactionInput!] }
  type RefundCreatePayload { refund: Refund order: Order userErrors: [UserError!]! }`

const operations = (version: ShopifyVersion) => `
  directive @idempotent(key: String!) on FIELD
  scalar DateTime scalar Decimal scalar Money scalar URL scalar HTML scalar UnsignedInt64
  scalar CurrencyCode scalar CountryCode
  interface Node { id: ID! }
  type PageInfo { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
  type UserError { field: [String!] message: String! }
  type MoneyV2 { amount: Decimal! currencyCode: CurrencyCode! }
  type MoneyBag { shopMoney: MoneyV2! presentmentMoney: MoneyV2! }
  input MoneyInput { amount: Decimal! currencyCode: CurrencyCode! }
  input MoneyBagInput { shopMoney: MoneyInput! presentmentMoney: MoneyInput }
  type ApiVersion { handle: String! displayName: String! supported: Boolean! }
  type Job { id: ID! done: Boolean! }
  enum BulkOperationType { MUTATION QUERY }
  enum BulkOperationStatus { CANCELED CANCELING COMPLETED CREATED EXPIRED FAILED RUNNING }
  enum BulkOperationErrorCode { ACCESS_DENIED INTERNAL_SERVER_ERROR TIMEOUT }
  type BulkOperation implements Node { id: ID! type: BulkOperationType! status: BulkOperationStatus! query: String!
    errorCode: BulkOperationErrorCode createdAt: DateTime! completedAt: DateTime objectCount: UnsignedInt64!
    rootObjectCount: UnsignedInt64! fileSize: UnsignedInt64 url: URL partialDataUrl: URL }
  type BulkOperationUserError { code: String field: [String!] message: String! }
  type BulkOperationPayload { bulkOperation: BulkOperation userErrors: [BulkOperationUserError!]! }
  enum WebhookSubscriptionTopic { APP_UNINSTALLED BULK_OPERATIONS_FINISH INVENTORY_LEVELS_UPDATE ORDERS_CANCELLED
    ORDERS_CREATE ORDERS_FULFILLED ORDERS_UPDATED PRODUCTS_CREATE PRODUCTS_DELETE PRODUCTS_UPDATE REFUNDS_CREATE }
  enum WebhookSubscriptionFormat { JSON XML }
  type WebhookSubscription implements Node { id: ID! topic: WebhookSubscriptionTopic! uri: String!
    format: WebhookSubscriptionFormat! apiVersion: ApiVersion! createdAt: DateTime! updatedAt: DateTime! }
  input WebhookSubscriptionInput { uri: String format: WebhookSubscriptionFormat filter: String
    includeFields: [String!] }
  type WebhookSubscriptionCreatePayload { webhookSubscription: WebhookSubscription userErrors: [UserError!]! }
  type WebhookSubscriptionDeletePayload { deletedWebhookSubscriptionId: ID userErrors: [UserError!]! }
  input InventoryQuantityInput { inventoryItemId: ID! locationId: ID! quantity: Int! changeFromQuantity: Int
    ${version < "2026-04" ? "compareQuantity: Int" : ""} }
  input InventorySetQuantitiesInput { name: String! reason: String! referenceDocumentUri: String
    quantities: [InventoryQuantityInput!]! ${version < "2026-04" ? "ignoreCompareQuantity: Boolean = false" : ""} }
  type Query {
    shop: Shop!
    node(id: ID!): Node
    nodes(ids: [ID!]!): [Node]!
    product(id: ID!): Product
    productVariant(id: ID!): ProductVariant
    inventoryItem(id: ID!): InventoryItem
    order(id: ID!): Order
    job(id: ID!): Job
    bulkOperation(id: ID!): BulkOperation
    bulkOperations(first: Int, after: String, reverse: Boolean = false): BulkOperationConnection!
    products(first: Int, after: String, query: String, sortKey: ProductSortKeys = ID, reverse: Boolean = false):
      ProductConnection!
    orders(first: Int, after: String, query: String, sortKey: OrderSortKeys = PROCESSED_AT, reverse: Boolean = false):
      OrderConnection!
    locations(first: Int, after: String): LocationConnection!
    currentBulkOperation(type: BulkOperationType = QUERY): BulkOperation
    webhookSubscriptions(first: Int, after: String, topics: [WebhookSubscriptionTopic!]):
      WebhookSubscriptionConnection!
  }
  type Mutation {
    bulkOperationRunQuery(query: String!, groupObjects: Boolean! = false): BulkOperationPayload
    productUpdate(product: ProductUpdateInput!): ProductUpdatePayload
    metafieldsSet(metafields: [MetafieldsSetInput!]!): MetafieldsSetPayload
    metafieldsDelete(metafields: [MetafieldIdentifierInput!]!): MetafieldsDeletePayload
    inventorySetQuantities(input: InventorySetQuantitiesInput!): InventorySetQuantitiesPayload
    orderCreate(order: OrderCreateOrderInput!, options: OrderCreateOptionsInput): OrderCreatePayload
    orderCancel(orderId: ID!, reason: OrderCancelReason!, restock: Boolean!, notifyCustomer: Boolean = false,
      refundMethod: OrderCancelRefundMethodInput, staffNote: String): OrderCancelPayload
    refundCreate(input: RefundInput!): RefundCreatePayload
    webhookSubscriptionCreate(topic: WebhookSubscriptionTopic!, webhookSubscription: WebhookSubscriptionInput!):
      WebhookSubscriptionCreatePayload
    webhookSubscriptionDelete(id: ID!): WebhookSubscriptionDeletePayload
  }`

const built = new Map<ShopifyVersion, GraphQLSchema>()

/** The part of the schema of a version that the connector may use. */
export const shopifySchema = (version: ShopifyVersion): GraphQLSchema => {
  const known = built.get(version) ?? buildSchema(operations(version) + connections + catalog + orders)
  built.set(version, known)
  return known
}
