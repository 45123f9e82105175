import { Array, Effect, Option, Record, Schema, Stream } from "effect"
import { CurrencyCode, exponentOf } from "stoa/plugin"
import type { ChannelOrders } from "../ChannelAdapter.ts"
import type { OrderSlice, RemoteOrder } from "../ChannelRecords.ts"
import { textOf, type WooApi } from "./WooApi.ts"

const Unit = Schema.Struct({ product_id: Schema.Int, variation_id: Schema.Int, quantity: Schema.Finite })
const Units = Schema.Array(Unit)
const Refund = Schema.Struct({
  id: Schema.Int,
  date_created_gmt: Schema.String,
  amount: Schema.String,
  line_items: Units
})
const Meta = Schema.Array(Schema.Record(Schema.String, Schema.Unknown))
const Order = Schema.Struct({
  id: Schema.Int,
  status: Schema.String,
  currency: Schema.String,
  date_completed_gmt: Schema.NullOr(Schema.String),
  line_items: Units,
  refunds: Schema.Array(Schema.Unknown),
  meta_data: Meta
})
const Marked = Schema.Struct({ id: Schema.Int, meta_data: Meta })
const asked = `_fields=${Object.keys(Order.fields).join()}`
const idKey = "stoa_order_id"
const isCurrency = Schema.is(CurrencyCode)
const decimalsOf = (currency: string): number => isCurrency(currency) ? exponentOf(currency) : 2

/** Meta data of the plugins for shipments. */
const Tracked = Schema.NonEmptyArray(Schema.Struct({
  tracking_number: Schema.String,
  custom_tracking_link: Schema.optional(Schema.String)
}))
const readTracked = Schema.decodeUnknownOption(Tracked)

const trackingOf = (meta: typeof Meta.Type) => {
  const found = readTracked(meta.find(({ key }) => key === "_wc_shipment_tracking_items")?.["value"])
  const [first] = Option.getOrElse(found, () => [undefined])
  return { trackingNumber: first?.tracking_number || null, trackingUrl: first?.custom_tracking_link || null }
}

/** Units of lines; those of a refund are negative. */
const unitsOf = (lines: typeof Units.Type) =>
  Object.entries(Array.groupBy(lines, (one) => [one.product_id, one.variation_id || []].flat().join("/")))
    .map(([externalVariantId, same]) => ({
      externalVariantId,
      quantity: Math.abs(same.reduce((sum, { quantity }) => sum + quantity, 0))
    }))
    .filter(({ quantity }) => quantity > 0)

const addressOf = ({ name, shippingAddress }: OrderSlice["customer"]) => {
  const words = name.trim().split(/\s+/)
  const names = { first_name: words.slice(0, -1).join(" "), last_name: words.at(-1) }
  const given = { first_name: "firstName", last_name: "lastName", company: "company", phone: "phone", city: "city" }
  const place = { address_1: "line1", address_2: "line2", postcode: "postalCode", state: "state", country: "country" }
  const texts = Record.map({ ...given, ...place }, (field) => textOf(shippingAddress[field]))
  return { ...names, ...Record.filter(texts, (text) => text !== "") }
}

/** A paid order whose totals are ours, to the cent: WooCommerce would add tax by its rates, so its taxes are off. */
const bodyOf = ({ currency, customer, grandTotal, lines, orderId, orderNumber, shippingTotal }: OrderSlice) => {
  const amountOf = (minor: number) => (minor / 10 ** decimalsOf(currency)).toFixed(decimalsOf(currency))
  const tax = lines.reduce((rest, { totalPrice }) => rest - totalPrice, grandTotal - shippingTotal)
  const extra = (name: object, amount: number) => amount === 0 ? [] : [{ ...name, total: amountOf(amount) }]
  return {
    set_paid: true,
    currency,
    payment_method: "stoa",
    payment_method_title: `Stoa ${orderNumber}`,
    billing: { ...addressOf(customer), email: customer.email },
    shipping: addressOf(customer),
    line_items: lines.map(({ externalVariantId, quantity, title, totalPrice }) => {
      const [product_id, variation_id] = externalVariantId.split("/").map(Number)
      const total = amountOf(totalPrice)
      return { product_id, variation_id, name: title, quantity, subtotal: total, total }
    }),
    shipping_lines: extra({ method_id: "stoa", method_title: "Shipping" }, shippingTotal),
    fee_lines: extra({ name: "Tax" }, tax),
    meta_data: [{ key: idKey, value: orderId }, { key: "is_vat_exempt", value: "yes" }]
  }
}

/** A day before, without a zone: WordPress reads it by the shop's clock, and a zone may be taken off twice. */
const dayBefore = (at: number): string => new Date(Math.max(0, at - 86_400_000)).toISOString().slice(0, 19)

/** When an id was made; the beginning of time for one that does not say. */
const madeAt = (id: string): number => id[14] === "7" ? Number.parseInt(id.replace("-", "").slice(0, 12), 16) : 0

/** Takes our orders. */
export const wooOrders = (api: WooApi, domain: string): ChannelOrders => {
  const find = (id: string) => api.find(Order, `orders/${encodeURIComponent(id)}?${asked}`)
  const remote = Effect.fnUntraced(function*(order: typeof Order.Type) {
    const { currency, date_completed_gmt: completed, id, line_items, meta_data, status } = order
    const refunds = order.refunds.length > 0 ? yield* Stream.runCollect(api.rows(Refund, `orders/${id}/refunds`)) : []
    // Status `completed` fulfils an order as a whole, but for what was given back before.
    const isDone = status === "completed" || status === "refunded" && completed !== null
    const before = refunds.filter((one) => one.date_created_gmt < (completed ?? "")).flatMap((one) => one.line_items)
    const found: RemoteOrder = {
      remoteOrderId: `${id}`,
      remoteUrl: `${domain}/wp-admin/post.php?post=${id}&action=edit`,
      status: isDone ? "fulfilled" : ["cancelled", "failed", "trash"].includes(status) ? "cancelled" : "open",
      fulfillments: isDone
        ? [{ externalId: `${id}`, lines: unitsOf([...line_items, ...before]), ...trackingOf(meta_data) }]
        : [],
      refunds: refunds.map((one) => ({
        remoteRefundId: `${one.id}`,
        amount: Math.round(Number(one.amount) * 10 ** decimalsOf(currency)),
        lines: unitsOf(one.line_items)
      }))
    }
    return found
  })
  const get = (id: string) =>
    Effect.flatMap(find(id), (order) => order === undefined ? Effect.undefined : remote(order))
  return {
    push: (slice) => Effect.flatMap(api.send(Order, `orders?${asked}`, { body: bodyOf(slice) }), remote),
    // A search does not look at meta data, and `any` status not into the trash.
    lookup: (orderId) =>
      Stream.make("any", "trash").pipe(
        Stream.flatMap((status) =>
          api.rows(Marked, "orders", { _fields: "id,meta_data", status, after: dayBefore(madeAt(orderId)) })
        ),
        Stream.filter(({ meta_data }) => meta_data.some(({ key, value }) => key === idKey && value === orderId)),
        Stream.runHead,
        Effect.flatMap((found) => Option.isNone(found) ? Effect.undefined : get(`${found.value.id}`))
      ),
    get,
    changedSince: (at, cursor) => {
      const query = { _fields: "id", modified_after: dayBefore(at.getTime()) }
      return Effect.map(
        api.page([Schema.Struct({ id: Schema.Int }), "orders", query], cursor ?? "0:0", 100),
        ({ items, nextCursor }) => ({ ids: items.map(({ id }) => `${id}`), nextCursor })
      )
    },
    cancel: Effect.fnUntraced(function*(remoteOrderId) {
      const order = yield* find(remoteOrderId)
      if (order === undefined || ["completed", "trash"].includes(order.status)) return false
      // What was wholly given back there is not sent any more.
      if (order.status === "refunded") return order.date_completed_gmt === null
      yield* api.send(Schema.Unknown, `orders/${order.id}`, { method: "PUT", body: { status: "cancelled" } })
      return true
    })
  }
}
