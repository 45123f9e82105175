import { Effect, Schema, Struct } from "effect"
import { type Actor, holds, InvalidTransition, LineRequest } from "stoa/plugin"
import { holdInstead } from "./HeldGoods.ts"
import { agreedTotalOf, requireSame } from "./Prices.ts"
import { admin, currencyOf, itemsOf, own, type ScheduledOrder, scheduledOrders, type Tools } from "./ScheduledOrder.ts"
import type { ScheduleSettings } from "./ScheduleSettings.ts"

const Item = LineRequest.mapFields(Struct.pick(["entityId", "metadata", "notes", "quantity", "variantId"]))
  .annotate({ identifier: "ScheduledItem" })

/** All items that an order has from then on. Each is a few statements, so there are not many. */
export const NewItems = Schema.Struct({ items: Schema.Array(Item).check(Schema.isBetweenLength(1, 100)) })

const requireOpen = ({ status }: ScheduledOrder) =>
  status === "scheduled" || status === "paused"
    ? Effect.void
    : Effect.fail(InvalidTransition.of(`Items can be changed until an order is placed: its status is ${status}.`))

/** The items as a cart has them: it knows what its customer may buy, and how much of it. Staff buys as the store. */
const inCart = Effect.fnUntraced(function*(
  { services: { cart } }: Tools,
  row: ScheduledOrder,
  items: typeof NewItems.Type["items"]
) {
  const { id } = yield* cart.create({ currency: currencyOf(row), customerId: row.customerId })
  yield* Effect.forEach(items, (item) => cart.addItem(id, item), { discard: true })
  return itemsOf((yield* cart.get(id)).lines)
})

/**
 * Replaces the items of an order that is scheduled or paused, and what is held for it. A renewal at the same moment is
 * placed with these items, or with those before and refuses these. Their total is the agreed one. 404 for another one's; 422 for items that a cart
 * refuses, and once it is placed.
 */
export const changeItems = Effect.fn("ScheduledOrders.changeItems")(function*(
  tools: Tools,
  settings: ScheduleSettings,
  actor: Actor,
  id: string,
  sent: typeof NewItems.Type
) {
  const { asStore, db } = tools
  const seen = yield* db.use(own).get(id)
  yield* requireOpen(seen)
  const chosen = inCart(tools, seen, sent.items)
  const items = yield* holds(actor, admin) ? asStore(chosen) : chosen
  const agreedTotal = yield* agreedTotalOf(tools, { ...seen, items })
  return yield* db.transaction(Effect.gen(function*() {
    const row = yield* db.table(scheduledOrders).lock(id)
    yield* requireOpen(row)
    if (agreedTotal !== undefined) yield* requireSame(seen, row)
    if (row.status === "scheduled") yield* holdInstead(tools, settings, row, items)
    return yield* db.table(scheduledOrders).update(id, { items, agreedTotal })
  }))
})
