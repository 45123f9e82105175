import { DateTime, Effect } from "effect"
import {
  type CheckoutExtension,
  EntityId,
  HookRefusal,
  invalid,
  type OrderProjection,
  type PluginContext,
  type PluginDatabase
} from "stoa/plugin"
import { itemGroupsOf } from "./ItemGroupsRepo.ts"
import { availability, isCounting, type MenuEntry, takenUnits } from "./Menu.ts"
import { firedUnitsOf, linesOfOrders } from "./MenuRepo.ts"
import { comboIn, type DishLine } from "./Parts.ts"
import { itemsNamed } from "./PartsRepo.ts"
import { isOnMenu, type RestaurantSettings } from "./RestaurantOptions.ts"

class SoldOut extends invalid("MenuSoldOut", "items", (message: string) => message) {}

type Units = ReadonlyMap<string, number>

/** What an order takes of the menu in all. */
interface Wanted {
  readonly orderId: string
  readonly units: Units
  /** Units that may lack, because they are cooked. */
  readonly cooked?: Units
  /** Entries that were counted later have the order in their count. */
  readonly placedAt?: Date
}

interface Taken {
  readonly id: string | undefined
  readonly orderId: string
  readonly entityId: string
  readonly quantity: number
}

const none: Units = new Map()

const itemsOf = (line: DishLine) => (comboIn(line.metadata) ?? []).map(({ itemId }) => itemId)

/** Reads how to count units of lines: by their entity, and of the items of combos by theirs. At most one statement. */
const counter = Effect.fnUntraced(function*(db: PluginDatabase, all: ReadonlyArray<DishLine>) {
  const items = new Map((yield* db.use(itemsNamed)(all.flatMap(itemsOf))).map((item) => [item.id, item.entityId]))
  return (lines: ReadonlyArray<DishLine>): Units => {
    const units = new Map<string, number>()
    for (const line of lines) {
      for (const id of [line.entityId, ...itemsOf(line).flatMap((itemId) => items.get(itemId) ?? [])]) {
        units.set(id, (units.get(id) ?? 0) + line.quantity)
      }
    }
    return units
  }
})

/** Units that an order takes beyond those it has taken; below 0 it gives some back. */
const moreOf = ({ placedAt, units }: Wanted, entry: MenuEntry, had: number): number => {
  const more = (units.get(entry.entityId) ?? 0) - had
  return placedAt !== undefined && placedAt < entry.countedSince ? Math.min(0, more) : more
}

const write = Effect.fnUntraced(function*(
  db: PluginDatabase,
  entries: ReadonlyArray<{ readonly id: string; readonly remaining: number }>,
  taken: ReadonlyArray<Taken>
) {
  if (entries.length > 0) yield* db.table(availability).updateEach(entries)
  const known = taken.flatMap(({ id, quantity }) => id === undefined ? [] : [{ id, quantity }])
  const fresh = taken.flatMap(({ id, ...row }) => id === undefined ? [row] : [])
  if (known.length > 0) yield* db.table(takenUnits).updateEach(known)
  if (fresh.length > 0) yield* db.table(takenUnits).insertMany(fresh)
})

/**
 * Brings `remaining` to what orders take in all, in the caller's transaction; repeating it changes nothing. Entries are locked in
 * the order of their ids. Units beyond what is left are refused, unless `takesRest`: then the order takes the rest.
 */
const settle = Effect.fn("Menu.settle")(
  function*(db: PluginDatabase, orders: ReadonlyArray<Wanted>, takesRest: boolean) {
    const before = yield* db.table(takenUnits).list({ orderId: { in: orders.map(({ orderId }) => orderId) } })
    const ids = new Set([...orders.flatMap(({ units }) => [...units.keys()]), ...before.map((one) => one.entityId)])
    const now = yield* DateTime.nowAsDate
    const entries = ids.size === 0 ? [] : yield* db.table(availability).list(
      { entityId: { in: Array.from(ids, (id) => EntityId.make(id)) }, remaining: { gte: 0 } },
      { order: ["id"], lock: true }
    )
    const changed: Array<{ readonly id: string; readonly remaining: number }> = []
    const taken: Array<Taken> = []
    for (const entry of entries.filter((one) => isCounting(one, now))) {
      const { entityId, id, remaining } = entry
      let left = remaining ?? 0
      for (const order of orders) {
        const had = before.find((one) => one.orderId === order.orderId && one.entityId === entityId)
        const more = moreOf(order, entry, had?.quantity ?? 0)
        if (more > left + (order.cooked?.get(entityId) ?? 0) && !takesRest) return yield* soldOut(db, entityId, left)
        const units = Math.min(more, left)
        left -= units
        const quantity = (had?.quantity ?? 0) + units
        if (units !== 0) taken.push({ id: had?.id, orderId: order.orderId, entityId, quantity })
      }
      if (left !== remaining) changed.push({ id, remaining: left })
    }
    yield* write(db, changed, taken)
  }
)

const soldOut = Effect.fnUntraced(function*(db: PluginDatabase, entityId: EntityId, left: number) {
  const title = (yield* db.use(itemGroupsOf)([entityId])).get(entityId)?.title ?? "this item"
  return yield* Effect.fail(
    new HookRefusal(left === 0 ? `“${title}” is sold out.` : `Only ${left} of “${title}” are left.`)
  )
})

/** Takes the units of an order of a till, or refuses it. What the kitchen has cooked is sold in any case. */
export const takeUnits = Effect.fnUntraced(
  function*(db: PluginDatabase, transactionId: string, orderId: string, lines: ReadonlyArray<DishLine>) {
    const order = { orderId, units: (yield* counter(db, lines))(lines) }
    yield* settle(db, [order], false).pipe(
      Effect.catchTag("HookRefusal", () =>
        Effect.gen(function*() {
          const fired = (yield* db.use(firedUnitsOf)(transactionId)).map((line) => ({ ...line, quantity: line.units }))
          const cooked = (yield* counter(db, fired))(fired)
          yield* settle(db, [{ ...order, cooked }], false)
        })),
      Effect.catchTag("HookRefusal", ({ message }) => new SoldOut(message))
    )
  }
)

/**
 * Checkouts take their units before any money, and give them back when they fail. One statement for a checkout of what is not
 * counted.
 */
export const menuCheckouts = (settings: RestaurantSettings, { db }: PluginContext): CheckoutExtension => ({
  concerns: ({ checkoutId, lines }) => checkoutId !== null && lines.some(isOnMenu(settings)),
  decide: Effect.fnUntraced(function*({ checkoutId, lines: all }) {
    const lines = all.filter(isOnMenu(settings))
    if (checkoutId === null) return undefined
    const units = (yield* counter(db, lines))(lines)
    const entityId = { in: Array.from(units.keys(), (id) => EntityId.make(id)) }
    const counted = yield* db.table(availability).first({ entityId, remaining: { gte: 0 } })
    if (counted === undefined) return undefined
    const taken = db.transaction(settle(db, [{ orderId: checkoutId, units }], false))
    yield* Effect.catchIf(taken, (error) => !(error instanceof HookRefusal), Effect.die)
    return undefined
  }),
  failed: ({ checkoutId }) =>
    Effect.catch(db.transaction(settle(db, [{ orderId: checkoutId, units: none }], true)), Effect.die)
})

/** Keeps the count in step with orders: edits and orders by hand count, and a cancelled order gives its units back. */
export const menuOrders = ({ db }: PluginContext): OrderProjection => ({
  only: { entitiesIn: availability, ordersIn: takenUnits },
  // Its checkout has taken the units.
  created: () => Effect.succeed(undefined),
  changed: Effect.fn("Menu.changed")(function*(orderIds) {
    const lines = yield* db.use(linesOfOrders)(orderIds)
    const unitsOf = yield* counter(db, lines)
    const orders = orderIds.map((orderId): Wanted => {
      const own = lines.filter((line) => line.orderId === orderId)
      const placedAt = own[0]?.placedAt
      return {
        orderId,
        units: unitsOf(own.filter(({ isCancelled }) => !isCancelled)),
        ...(placedAt === undefined ? {} : { placedAt })
      }
    })
    // The goods of a sale that is over are gone, and an order by hand is the staff's.
    yield* settle(db, orders, true)
  }, Effect.catch(Effect.die))
})
