import { Effect } from "effect"
import { CurrencyCode, exponentOf } from "stoa/plugin"
import type { ChannelOrders } from "../ChannelAdapter.ts"
import { ChannelUnavailable } from "../ChannelErrors.ts"
import type { OrderSlice } from "../ChannelRecords.ts"
import * as Api from "./ShopifyApi.ts"

const { gid, List, NullOr, numberIn, Struct, Text } = Api

const createQuery = `mutation ($order: OrderCreateOrderInput!) {
  done: orderCreate(order: $order, options: { inventoryBehaviour: DECREMENT_OBEYING_POLICY }) {
    order { id } userErrors { code message } } }`
const cancelQuery = `mutation ($id: ID!) { done: orderCancel(orderId: $id, reason: OTHER, restock: true) {
  userErrors: orderCancelUserErrors { code message } } }`

/** A search finds a new order only after a while, a list at once. */
const lookupQuery = `query ($search: String!) { found: orders(first: 5, query: $search) { nodes { id tags } }
  newest: orders(first: 50, sortKey: CREATED_AT, reverse: true) { nodes { id tags } } }`
const changedQuery = `query ($search: String!, $after: String) {
  orders(first: 250, query: $search, after: $after) { ${Api.paged("id")} } }`
const Changed = Struct({ orders: Api.Page(Struct({ id: Text })) })
const Found = Struct({ nodes: List(Struct({ id: Text, tags: List(Text) })) })

/** These lists have no pages: a full one is asked for again with more, within the points that a query may cost. */
const [someParts, mostParts] = [30, 120]
const orderQuery = `query ($id: ID!, $first: Int!) { order(id: $id) { cancelledAt displayFulfillmentStatus
  fulfillments(first: $first) { id status trackingInfo(first: 1) { number url } }
  refunds(first: $first) { id totalRefundedSet { shopMoney { amount currencyCode } } } } }`
const Tracking = Struct({ number: NullOr(Text), url: NullOr(Text) })
const Money = Struct({ shopMoney: Struct({ amount: Text, currencyCode: CurrencyCode }) })
const Order = Struct({
  cancelledAt: NullOr(Text),
  displayFulfillmentStatus: NullOr(Text),
  fulfillments: List(Struct({ id: Text, status: Text, trackingInfo: List(Tracking) })),
  refunds: List(Struct({ id: Text, totalRefundedSet: Money }))
})

const unitsQuery = (type: string) =>
  `query ($id: ID!, $after: String) { part: node(id: $id) { ... on ${type} {
    units: ${type.toLowerCase()}LineItems(first: 50, after: $after) {
      ${Api.paged("quantity lineItem { variant { id } }")} } } } }`
const Unit = Struct({ quantity: NullOr(Api.Int), lineItem: Struct({ variant: NullOr(Struct({ id: Text })) }) })
const Units = Struct({ part: Struct({ units: Api.Page(Unit) }) })

const unitsOf = Effect.fnUntraced(function*(call: Api.ShopifyCall, type: "Fulfillment" | "Refund", id: string) {
  const units = new Map<string, number>()
  let after: string | null = null
  do {
    const found: typeof Units.Type = yield* call(Units, unitsQuery(type), { id, after })
    const { nodes, pageInfo }: typeof Units.Type["part"]["units"] = found.part.units
    for (const { lineItem: { variant }, quantity } of nodes) {
      if (variant !== null) units.set(variant.id, (units.get(variant.id) ?? 0) + (quantity ?? 0))
    }
    after = pageInfo.hasNextPage ? pageInfo.endCursor : null
  } while (after !== null)
  return [...units].map(([variant, quantity]) => ({ externalVariantId: numberIn(variant), quantity }))
})

const addressOf = ({ name, shippingAddress: to }: OrderSlice["customer"]) => {
  const words = name.trim().split(/\s+/)
  return {
    firstName: to["firstName"] ?? words.slice(0, -1).join(" "),
    lastName: to["lastName"] ?? words.at(-1),
    company: to["company"],
    address1: to["line1"],
    address2: to["line2"],
    city: to["city"],
    provinceCode: to["state"],
    zip: to["postalCode"],
    countryCode: to["country"],
    phone: to["phone"]
  }
}

/** A paid order, whose lines, shipping and tax come to its total. */
const orderOf = ({ currency, customer, grandTotal, lines, orderId, orderNumber, ...slice }: OrderSlice) => {
  const { pricesIncludeTax, shippingTotal, taxTotal } = slice
  const places = exponentOf(currency)
  const priceSet = (minor: number) => ({
    shopMoney: { amount: (minor / 10 ** places).toFixed(places), currencyCode: currency }
  })
  const rate = (taxTotal / Math.max(grandTotal - taxTotal, 1)).toFixed(4)
  return {
    currency,
    lineItems: lines.map(({ externalVariantId, quantity, title, unitPrice }) => ({
      variantId: gid("ProductVariant", externalVariantId),
      title,
      quantity,
      priceSet: priceSet(unitPrice),
      requiresShipping: true,
      taxable: true
    })),
    email: customer.email,
    shippingAddress: addressOf(customer),
    note: `Order ${orderNumber}`,
    tags: [orderId],
    taxesIncluded: pricesIncludeTax,
    taxLines: taxTotal === 0 ? [] : [{ title: "Tax", rate, priceSet: priceSet(taxTotal) }],
    shippingLines: shippingTotal === 0 ? [] : [{ title: "Shipping", priceSet: priceSet(shippingTotal) }],
    financialStatus: "PAID",
    transactions: grandTotal === 0 ? [] : [{ kind: "SALE", status: "SUCCESS", amountSet: priceSet(grandTotal) }]
  }
}

/** Creates paid orders with our id as a tag, which has at most 40 characters. Cancelling refunds nothing: Shopify has no payment. */
export const shopifyOrders = (call: Api.ShopifyCall, domain: string): ChannelOrders => {
  const remote = (remoteOrderId: string) => ({ remoteOrderId, remoteUrl: `${domain}/admin/orders/${remoteOrderId}` })

  const read = (remoteOrderId: string, first: number) =>
    Effect.map(
      call(Struct({ order: NullOr(Order) }), orderQuery, { id: gid("Order", remoteOrderId), first }),
      ({ order }) => order
    )

  const get = Effect.fnUntraced(function*(remoteOrderId: string) {
    const short = yield* read(remoteOrderId, someParts)
    const isFull = [short?.fulfillments.length, short?.refunds.length].includes(someParts)
    const order = isFull ? yield* read(remoteOrderId, mostParts) : short
    if (order === null) return undefined
    const sent = order.fulfillments.filter(({ status }) => status === "SUCCESS")
    const isFulfilled = order.displayFulfillmentStatus === "FULFILLED"
    return {
      ...remote(remoteOrderId),
      status: order.cancelledAt !== null ? "cancelled" as const : isFulfilled ? "fulfilled" as const : "open" as const,
      fulfillments: yield* Effect.forEach(
        sent,
        ({ id, trackingInfo: [tracking] }) =>
          Effect.map(unitsOf(call, "Fulfillment", id), (lines) => ({
            externalId: numberIn(id),
            lines,
            trackingNumber: tracking?.number ?? null,
            trackingUrl: tracking?.url ?? null
          }))
      ),
      refunds: yield* Effect.forEach(
        order.refunds,
        ({ id, totalRefundedSet: { shopMoney } }) =>
          Effect.map(unitsOf(call, "Refund", id), (lines) => ({
            remoteRefundId: numberIn(id),
            amount: Math.round(Number(shopMoney.amount) * 10 ** exponentOf(shopMoney.currencyCode)),
            lines
          }))
      )
    }
  })

  const push = Effect.fnUntraced(function*(slice: OrderSlice) {
    const Made = Api.Done({ order: NullOr(Struct({ id: Text })) })
    const { done: { order, userErrors } } = yield* call(Made, createQuery, { order: orderOf(slice) })
    if (order === null) return yield* Api.refusal(userErrors)
    return { ...remote(numberIn(order.id)), status: "open" as const, fulfillments: [], refunds: [] }
  })

  const lookup = Effect.fnUntraced(function*(orderId: string) {
    const search = `tag:'${orderId}'`
    const { found, newest } = yield* call(Struct({ found: Found, newest: Found }), lookupQuery, { search })
    // Shopify ignores terms that it does not know, and then finds every order.
    const order = [...found.nodes, ...newest.nodes].find(({ tags }) => tags.includes(orderId))
    return order === undefined ? undefined : yield* get(numberIn(order.id))
  })

  const cancel = Effect.fnUntraced(function*(remoteOrderId: string) {
    const { done: { userErrors } } = yield* call(Api.Done({}), cancelQuery, { id: gid("Order", remoteOrderId) })
    if ((yield* get(remoteOrderId))?.status === "cancelled") return true
    if (userErrors.length > 0) return false
    // A job cancels it, which may end otherwise.
    return yield* new ChannelUnavailable({ message: "The store has not cancelled the order yet." })
  })

  const changedSince = (at: Date, after: string | null) =>
    Effect.map(
      call(Changed, changedQuery, { search: `updated_at:>='${at.toISOString()}'`, after }),
      ({ orders: { nodes, pageInfo } }) => ({
        ids: nodes.map(({ id }) => numberIn(id)),
        nextCursor: pageInfo.hasNextPage ? pageInfo.endCursor : null
      })
    )

  return { cancel, changedSince, get, lookup, push }
}
