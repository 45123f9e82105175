import { fulfilmentOf, type Line, moneyStateOf, openOf, refundedOf, type ShopifyOrder } from "./ShopifyOrder.ts"
import { connection, gid, isoTime, moneyBag, type ShopifySite } from "./ShopifyPages.ts"
import type { ShopifyVariant } from "./ShopifyProduct.ts"

/** An order as GraphQL shows it. */
export const orderView = (
  order: ShopifyOrder,
  site: ShopifySite,
  variantView: (variant: ShopifyVariant) => object
): object => {
  const { cancelled, fulfillments, id, input, lines, refunds, totals } = order
  const bag = (minor: number) => moneyBag(minor, input.currency ?? site.currency)
  const lineView = (line: Line): object => ({
    ...line,
    __typename: "LineItem",
    id: gid("LineItem", line.id),
    currentQuantity: line.quantity - line.refunded,
    unfulfilledQuantity: openOf(line),
    variant: () => line.variant === undefined ? null : variantView(line.variant),
    originalUnitPriceSet: bag(line.price)
  })
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
    lineItems: connection(() => lines, lineView),
    fulfillments: () =>
      fulfillments.map(({ created, id: number, parts, tracking }) => ({
        id: gid("Fulfillment", number),
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
      })),
    refunds: () =>
      refunds.map((one) => ({
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
