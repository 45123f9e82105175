import { DateTime, Effect } from "effect"
import { addressIn, conflict } from "stoa/plugin"
import { mailCustomer } from "./Mails.ts"
import { reviewMail } from "./PriceMails.ts"
import {
  aboutOf,
  announce,
  currencyOf,
  isGuarded,
  releaseGoods,
  type ScheduledOrder,
  scheduling,
  type Tools
} from "./ScheduledOrder.ts"
import type { ScheduleSettings } from "./ScheduleSettings.ts"

class ChangedMeanwhile
  extends conflict("ChangedMeanwhile", "The order was changed by another request. Read it and try again.")
{}

type Priced = Pick<
  ScheduledOrder,
  "currency" | "customerId" | "deliveryAddress" | "items" | "orderType" | "pickupLocation" | "scheduledFor"
>
type Guarded = Pick<ScheduledOrder, "agreedTotal" | "maxPriceIncreasePercent">

/** Prices an order as its checkout would now. Asks for taxes outside, so it belongs into no transaction. */
export const quote = ({ asStore, services }: Tools, row: Priced & { readonly id?: string }) =>
  asStore(services.quotes.quote({
    currency: currencyOf(row),
    customerId: row.customerId,
    lineItems: row.items,
    ...(row.orderType === "delivery" && { shippingAddress: addressIn(row.deliveryAddress) }),
    metadata: aboutOf(row)
  }))

/** The total of now, which an order with a guard of its price may cost from now on; undefined without a guard. */
export const agreedTotalOf = Effect.fnUntraced(function*(
  tools: Tools,
  order: Priced & Pick<Guarded, "maxPriceIncreasePercent"> & { readonly id?: string }
) {
  return isGuarded(order) ? (yield* quote(tools, order)).grandTotal : undefined
})

/** Whether a total is more than the customer of an order has agreed to. */
export const isAbove = ({ agreedTotal, maxPriceIncreasePercent }: Guarded, total: number): boolean =>
  agreedTotal !== null && maxPriceIncreasePercent !== null &&
  total * 100 > agreedTotal * (100 + maxPriceIncreasePercent)

/** Refuses an order that is no longer the one that was priced. */
export const requireSame = (priced: ScheduledOrder, now: ScheduledOrder) =>
  priced.updatedAt.getTime() === now.updatedAt.getTime() ? Effect.void : Effect.fail(new ChangedMeanwhile())

/**
 * Stops an order whose total has risen too much, and asks its customer, who has `priceReviewDays` to accept it. 409 while
 * another order of its cart is to come, or when it has changed since it was priced; 404 in another state.
 */
export const review = Effect.fn("ScheduledOrders.review")(
  function*(tools: Tools, settings: ScheduleSettings, priced: ScheduledOrder, quotedTotal: number) {
    const { holdGoods, priceReviewDays, timezone } = settings
    const row = yield* tools.db.use(scheduling).lock("review", { id: priced.id, status: priced.status })
    if (row.status === "scheduled") yield* requireSame(priced, row)
    if (row.status === "scheduled" && holdGoods === "scheduling") yield* releaseGoods(tools, row)
    const dueAt = DateTime.toDateUtc(DateTime.add(yield* DateTime.now, { days: priceReviewDays }))
    const change = { quotedTotal, dueAt, noticeAt: null, checkoutCartId: null }
    const reviewed = yield* tools.db.use(scheduling).move("review", row.id, change)
    yield* announce(tools, "price_review", reviewed)
    const until = dueAt.toISOString()
    const data = {
      scheduledFor: row.scheduledFor.toISOString(),
      timezone,
      currency: row.currency,
      agreedTotal: row.agreedTotal ?? 0,
      quotedTotal,
      until
    }
    yield* mailCustomer(tools, row, reviewMail, { data, key: `${row.id}/${until}` })
  },
  (work, { db }) => db.transaction(work)
)
