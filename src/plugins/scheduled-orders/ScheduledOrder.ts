import { Effect, Schema } from "effect"
import {
  about,
  amount,
  CartId,
  CurrencyCode,
  CustomerId,
  EntityId,
  idOf,
  integer,
  integerBetween,
  jsonOf,
  longText,
  machine,
  NotFound,
  oneOf,
  OrderId,
  ownedBy,
  type PluginCall,
  PostalAddress,
  type RowOf,
  secret,
  table,
  text,
  timestamp,
  VariantId
} from "stoa/plugin"

/** A line of the cart as it was scheduled. What it costs is decided when it is ordered. */
const Item = Schema.Struct({
  entityId: EntityId,
  variantId: Schema.NullOr(VariantId),
  quantity: Schema.Int,
  notes: Schema.NullOr(Schema.String),
  metadata: Schema.Record(Schema.String, Schema.Unknown).pipe(about("Free JSON of the line of the cart."))
})

export const orderTypes = ["pickup", "delivery", "dine_in"] as const
const statuses = [
  "scheduled",
  "paused",
  "price_review",
  "processing",
  "completed",
  "cancelled",
  "expired",
  "failed"
] as const

/**
 * Carts that are ordered later (contract, plugins §9). One that repeats has its next row once it is released, so that one row of
 * a cart is to come at any time. The change log has none of it: addresses and notes can be erased.
 */
export const scheduledOrders = table("scheduled_orders", {
  customerId: idOf(CustomerId).existing("customer"),
  cartId: idOf(CartId),
  locale: text.nullable.about("Language of its mails."),
  items: jsonOf(Schema.Array(Item), 1_048_576).about("Products and units to order."),
  currency: text,
  scheduledFor: timestamp.about("When the goods are wanted."),
  slotStart: timestamp.nullable.about("Begin of the time slot; null without slots."),
  orderType: oneOf(orderTypes).default("pickup").about("Way the goods reach the customer."),
  pickupLocation: text.nullable.about("Place at which the goods are fetched."),
  deliveryAddress: jsonOf(PostalAddress, 16_384).nullable.about("Address that the goods are brought to."),
  notes: longText.nullable,
  paymentMethodId: text.about("Payment method of the deployment."),
  paymentMethodToken: secret.nullable.about("Instrument at the provider. No answer shows it."),
  everyDays: integerBetween(1, 366).nullable.about(
    "Days until it is ordered again; without these and months it is ordered once."
  ),
  everyMonths: integerBetween(1, 12).nullable.about("Months between repeats."),
  dayOfMonth: integerBetween(1, 31).nullable.about(
    "Day on which it comes by months, the last one where a month is shorter."
  ),
  repeatUntil: timestamp.until.nullable.about("End of the repeats."),
  maxPriceIncreasePercent: integerBetween(0, 1_000).nullable.about(
    "Rise of the total up to which it is ordered without asking; null: any."
  ),
  agreedTotal: amount.nullable.about(
    "Total that counts as agreed: when it was scheduled, of the last order, or as its customer accepted it."
  ),
  quotedTotal: amount.nullable.about(
    "Total by the last quote: the checkout has to cost it, or its customer is asked about it."
  ),
  status: oneOf(statuses).default("scheduled").about(
    "price_review: the total rose, and the customer is asked until a deadline; then it is cancelled. processing: it is being ordered."
  ),
  /**
   * When the service does something about it next: releases it, tries it again, looks whether its checkout is stuck, ends its
   * review.
   */
  dueAt: timestamp.nullable.about("When it is ordered."),
  noticeAt: timestamp.nullable.about(
    "When its customer gets a mail about a renewal; null: it was sent, or there is none."
  ),
  attempts: integer.default(0).about("Number of tries."),
  processedAt: timestamp.nullable,
  /** The cart that it is checked out with, a new one for each attempt. */
  checkoutCartId: idOf(CartId).nullable,
  orderId: idOf(OrderId).nullable,
  failureReason: longText.nullable.about("Why it could not be ordered.")
}, {
  // One row of a cart is to come; one that does not repeat uses its cart up until it is cancelled or expires. Another
  // condition is another index: a numbered migration drops the one of before.
  unique: [{
    columns: ["cartId"],
    where: `status in ('scheduled', 'paused', 'price_review')
      or every_days is null and every_months is null and status in ('processing', 'completed', 'failed')`
  }],
  indexes: [
    { columns: ["slotStart"], where: "slot_start is not null and status not in ('cancelled', 'expired')" },
    { columns: ["dueAt"], where: "due_at is not null" },
    { columns: ["noticeAt"], where: "notice_at is not null" },
    { columns: ["checkoutCartId"], where: "checkout_cart_id is not null" }
  ],
  checks: {
    rhythm: "num_nonnulls(every_days, every_months) <= 1",
    day_of_month: "(every_months is null) = (day_of_month is null)",
    guard: "max_price_increase_percent is null or agreed_total is not null",
    review: "status <> 'price_review' or num_nonnulls(agreed_total, quoted_total, due_at) = 3",
    address: "order_type <> 'delivery' or delivery_address is not null or status not in ('scheduled', 'paused')"
  },
  changeLog: false,
  personal: { exempt: "The task scheduled-orders/forget cancels open orders before it erases them." },
  atMost: [{
    per: "customerId",
    rows: 50,
    where: "status in ('scheduled', 'paused', 'price_review')",
    except: "scheduled-orders:admin",
    refusal: "A customer can have at most 50 orders to come. Cancel one first."
  }]
})
export type ScheduledOrder = RowOf<typeof scheduledOrders>

/** Slots whose capacity staff has changed, and those that orders are in; the lock of a slot is its row. */
export const slots = table("scheduled_order_slots", {
  startsAt: timestamp.unique().about("Begin of the slot."),
  capacity: integerBetween(0, 100_000).about("Orders that the slot takes.")
}, { changeLog: false })

/** Whether an order comes again, by days or by months. */
export const repeats = (
  { everyDays, everyMonths }: { readonly [K in "everyDays" | "everyMonths"]?: number | null | undefined }
): boolean => (everyDays ?? everyMonths ?? null) !== null

/** Whether its customer is asked before a total that is much higher. */
export const isGuarded = ({ maxPriceIncreasePercent }: Pick<ScheduledOrder, "maxPriceIncreasePercent">): boolean =>
  maxPriceIncreasePercent !== null

/** What an order keeps of the lines of a cart. */
export const itemsOf = (lines: ReadonlyArray<typeof Item.Type>) =>
  lines.map(({ entityId, metadata, notes, quantity, variantId }) => ({
    entityId,
    metadata,
    notes,
    quantity,
    variantId
  }))

/** What becomes of a scheduled order. */
export const scheduling = machine(scheduledOrders, {
  noun: "scheduled order",
  moves: {
    plan: { from: ["scheduled", "paused", "price_review", "failed"], to: "scheduled" },
    skip: { from: ["scheduled"], to: "scheduled" },
    pause: { from: ["scheduled"], to: "paused" },
    resume: { from: ["paused"], to: "scheduled" },
    review: { from: ["scheduled", "processing"], to: "price_review" },
    accept: { from: ["price_review"], to: "scheduled" },
    release: { from: ["scheduled", "failed"], to: "processing", stamp: "processedAt" },
    complete: { from: ["processing"], to: "completed" },
    fail: { from: ["processing"], to: "failed" },
    cancel: { from: ["scheduled", "paused", "price_review", "failed"], to: "cancelled" },
    expire: { from: ["scheduled", "failed"], to: "expired" }
  }
})

export const admin = "scheduled-orders:admin"

/** Customers see and change what they have scheduled, staff all. */
export const own = ownedBy(scheduledOrders, { customer: "customerId", staff: admin })

/** What the rules need of a request or a job. */
export type Tools = Pick<PluginCall, "asStore" | "db" | "jobs" | "services">

/** Currencies of carts, as the core knows them. */
export const currencyOf = ({ currency }: Pick<ScheduledOrder, "currency">) => CurrencyCode.make(currency)

/** What the metadata of its order say. */
export const aboutOf = (
  { id, orderType, pickupLocation, scheduledFor }:
    & Pick<ScheduledOrder, "orderType" | "pickupLocation" | "scheduledFor">
    & { readonly id?: string }
) => ({ scheduledOrderId: id ?? null, orderType, pickupLocation, scheduledFor: scheduledFor.toISOString() })

/** Times of an order of which nothing is to come. */
export const noTimes = { dueAt: null, noticeAt: null }

/** The orders that a cart is kept for: it is neither changed nor bought beside them. */
export const usesOf = (cartId: CartId) => [
  { cartId, status: { in: ["scheduled", "paused", "price_review", "processing", "failed"] as const } },
  { cartId, status: "completed" as const, everyDays: null, everyMonths: null }
]

/** Frees a cart that is kept for no order any more. */
export const freeCart = ({ db, services }: Tools, cartId: CartId) => {
  const used = db.table(scheduledOrders).first({ or: usesOf(cartId) })
  return services.cart.free(cartId, Effect.map(used, (row) => row === undefined))
}

export const events = ["completed", "failed", "cancelled", "expired", "price_review"] as const

/** Tells others what became of it; without address and notes, which can be erased while events stay. */
export const announce = (
  { db }: Pick<Tools, "db">,
  event: typeof events[number],
  { agreedTotal, currency, customerId, failureReason, id, orderId, orderType, quotedTotal, scheduledFor }:
    ScheduledOrder
) => {
  const totals = { currency, agreedTotal, quotedTotal }
  const about = { id, customerId, orderId, orderType, scheduledFor: scheduledFor.toISOString(), failureReason }
  return db.announce(`scheduled_order.${event}`, {
    entityType: "scheduled_order",
    entityId: id,
    payload: { ...about, ...totals }
  })
}

const noStock = Schema.is(NotFound)

type Goods = ScheduledOrder["items"][number]

/**
 * Gives back what is reserved for an order, and reserves other goods; 422 when there are too few. In the order in which all
 * that holds stock locks it, so that orders with the same goods do not wait for each other. Goods without stock need none.
 */
export const moveGoods = (
  { services: { inventory: { release, reserve } } }: Tools,
  orderId: string,
  given: ReadonlyArray<Goods>,
  taken: ReadonlyArray<Goods>
) =>
  Effect.forEach(
    [...given.map((item) => ({ ...item, isGiven: true })), ...taken.map((item) => ({ ...item, isGiven: false }))]
      .toSorted((a, b) => (a.variantId ?? a.entityId).localeCompare(b.variantId ?? b.entityId)),
    ({ entityId, isGiven, quantity, variantId }) => {
      const goods = { entityId, variantId, quantity, orderId }
      return isGiven
        ? Effect.catchIf(release(goods), noStock, () => Effect.void)
        : Effect.catchIf(reserve(goods), noStock, () => Effect.void)
    },
    { discard: true }
  )

/** Gives back what is reserved for an order. */
export const releaseGoods = (tools: Tools, { id, items }: ScheduledOrder) => moveGoods(tools, id, items, [])
