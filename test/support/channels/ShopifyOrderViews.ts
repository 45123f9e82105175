import { fulfilmentOf, type Line, moneyStateOf, openOf, refundedOf, type ShopifyOrder } from "./ShopifyOrder.ts"
import { connection, gid, isoTime, moneyBag, type PageArgs, type ShopifySite } from "./ShopifyPages.ts"
import type { ShopifyVariant } from "./ShopifyProduct.ts"

type VariantView = (variant: ShopifyVariant) => object

const lineViewer = (bag: (minor: number) => object, variantView: VariantView) => (line: Line): object => ({
  ...line,
  __typename: "LineItem",
  id: gid("LineItem", line.id),
  currentQuantity: line.quantity - line.refunded,
  unfulfilledQuantity: openOf(line),
  variant: () => line.variant === undefined ? null : variantView(line.variant),
  originalUnitPriceSet: bag(line.price)
})

const bagOf = ({ input }: ShopifyOrder, site: ShopifySite) => (minor: number) =>
  moneyBag(minor, input.currency ?? site.currency)

const fulfillmentViews = (order: ShopifyOrder, site: ShopifySite, variantView: VariantView) => {
  const lineView = lineViewer(bagOf(order, site), variantView)
  return order.fulfillments.map(({ created, id, parts, tracking }) => ({
    __typename: "Fulfillment",
    id: gid("Fulfillment", id),
    status: "SUCCESS",
    createdAt: isoTime(created),
    totalQuantity: parts.reduce((sum, { quantity }) => sum + quantity, 0),
    trackingInfo: Object.keys(tracking).length === 0 ? [] : [tracking],
    fulfillmentLineItems: connection(
      () => parts,
      (part) => ({
        id: gid("FulfillmentLineItem", part.id),
        quantity: part.quantity,
        lineItem: () => lineView(part.line)
      })
    )
  }))
}

const refundViews = (order: ShopifyOrder, site: ShopifySite, variantView: VariantView) => {
  const bag = bagOf(order, site)
  const lineView = lineViewer(bag, variantView)
  return order.refunds.map((one) => ({
    __typename: "Refund",
    id: gid("Refund", one.id),
    createdAt: isoTime(one.created),
    note: one.note,
    totalRefundedSet: bag(one.amount),
    refundLineItems: connection(() => one.parts, ({ line, quantity, restockType, ...part }) => ({
      id: gid("RefundLineItem", part.id),
      lineItem: () => lineView(line),
      quantity,
      restockType,
      restocked: restockType !== "NO_RESTOCK",
      subtotalSet: bag(line.price * quantity)
    }))
  }))
}

/** The fulfillment or refund of an order with this id. */
export const partView = (id: string, order: ShopifyOrder, site: ShopifySite, variantView: VariantView) =>
  [...fulfillmentViews(order, site, variantView), ...refundViews(order, site, variantView)].find((one) => one.id === id)

/** An order as GraphQL shows it. */
export const orderView = (order: ShopifyOrder, site: ShopifySite, variantView: VariantView): object => {
  const { cancelled, id, input, lines, totals } = order
  const bag = bagOf(order, site)
  const at = (time: number | undefined) => time === undefined ? null : isoTime(time)
  return {
    ...input,
    __typename: "Order",
    id: gid("Order", id),
    legacyResourceId: String(id),
    name: order.name,
    tags: input.tags ?? [],
    currencyCode: input.currency ?? site.currency,
    taxesIncluded: input.taxesIncluded ?? false,
    customAttributes: input.customAttributes ?? [],
    metafield: ({ key, namespace }: { key: string; namespace?: string | null }) =>
      input.metafields?.find((one) => one.key === key && (one.namespace ?? null) === (namespace ?? null)) ?? null,
    createdAt: at(order.created),
    processedAt: at(order.created),
    updatedAt: at(order.updated),
    cancelledAt: at(cancelled?.at),
    cancelReason: cancelled?.reason ?? null,
    displayFinancialStatus: moneyStateOf(order),
    displayFulfillmentStatus: fulfilmentOf(order),
    totalPriceSet: bag(totals.total),
    totalTaxSet: bag(totals.tax),
    totalShippingPriceSet: bag(totals.shipping),
    totalRefundedSet: bag(refundedOf(order)),
    lineItems: connection(() => lines, lineViewer(bag, variantView)),
    fulfillments: ({ first }: PageArgs) => fulfillmentViews(order, site, variantView).slice(0, first ?? undefined),
    refunds: ({ first }: PageArgs) => refundViews(order, site, variantView).slice(0, first ?? undefined)
  }
}

/** An order as webhooks tell of it. */
export const orderPayload = (order: ShopifyOrder): object => {
  const { cancelled, id, input, lines } = order
  return {
    id,
    admin_graphql_api_id: gid("Order", id),
    name: order.name,
    tags: (input.tags ?? []).join(", "),
    note_attributes: (input.customAttributes ?? []).map(({ key, value }) => ({ name: key, value })),
    financial_status: moneyStateOf(order).toLowerCase(),
    fulfillment_status:
      { FULFILLED: "fulfilled", PARTIALLY_FULFILLED: "partial", UNFULFILLED: null }[fulfilmentOf(order)],
    cancelled_at: cancelled === null ? null : isoTime(cancelled.at),
    updated_at: isoTime(order.updated),
    line_items: lines.map((line) => ({
      id: line.id,
      variant_id: line.variant?.id ?? null,
      sku: line.sku,
      quantity: line.quantity,
      fulfillable_quantity: openOf(line)
    }))
  }
}
