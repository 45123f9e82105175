import { DateTime, Effect, Order, Struct } from "effect"
import { EntityId, type NewRowOf, type PluginDatabase } from "stoa/plugin"
import { itemGroupsOf } from "./ItemGroupsRepo.ts"
import { type DishLine, partsOf } from "./Parts.ts"
import { RestaurantOptions } from "./RestaurantOptions.ts"
import { stationGroups, stations } from "./Stations.ts"
import { printTickets } from "./TicketPrinting.ts"
import { netOf, type Ticket, type TicketItem, ticketItems, ticketNumbers, tickets } from "./Tickets.ts"

/** A line of a sale or order as it is now; `quantity` 0: nothing of it is wanted. */
export interface WantedLine extends DishLine {
  readonly id: string
  readonly notes: string | null
  readonly seat: number | null
  readonly course: number | null
}

/** Where lines come from. */
export type Origin = Pick<
  Ticket,
  | "businessDate"
  | "comments"
  | "customerId"
  | "operatorName"
  | "orderId"
  | "orderType"
  | "tableNumber"
  | "transactionId"
>

/** A dish of a line at a station. */
type Dish = Pick<TicketItem, "entityId" | "itemName" | "modifiers" | "perUnit" | "stationId" | "variantId">

/** Units of a dish that a station gets, or below 0 loses. */
interface Change {
  readonly line: WantedLine
  readonly dish: Dish
  readonly units: number
}

type NewItem = Omit<NewRowOf<typeof ticketItems>, "ticketId">
type NewTicket = NewRowOf<typeof tickets> & { readonly items: ReadonlyArray<NewItem> }

/** Tells dishes of a line apart. */
export const dishKey = (one: Pick<Dish, "entityId" | "itemName" | "stationId" | "variantId">) =>
  [one.stationId, one.entityId, one.variantId, one.itemName].join(" ")

/** What each station has of lines, with its tickets kept from others: tickets by id, as everywhere. */
export const firedOf = Effect.fn("Kitchen.firedOf")(function*(db: PluginDatabase, lineIds: ReadonlyArray<string>) {
  const whole = { order: ["createdAt", "id"], limit: 20_000 } as const
  const known = yield* db.table(ticketItems).list({ lineId: { in: lineIds } }, whole)
  const ids = [...new Set(known.map(({ ticketId }) => ticketId))]
  if (ids.length === 0) return { tickets: [], items: [], all: [] }
  const locked = yield* db.table(tickets).list({ id: { in: ids } }, { order: ["id"], limit: 20_000, lock: true })
  const all = yield* db.table(ticketItems).list({ ticketId: { in: ids } }, whole)
  const isOwn = new Set(lineIds)
  return { tickets: locked, items: all.filter(({ lineId }) => isOwn.has(lineId)), all }
})
type Fired = Effect.Success<ReturnType<typeof firedOf>>

/** The dishes of lines that no station has yet. */
const newDishes = Effect.fnUntraced(function*(db: PluginDatabase, lines: ReadonlyArray<WantedLine>) {
  if (lines.length === 0) return new Map<string, ReadonlyArray<Dish>>()
  const parts = yield* db.use(partsOf)(lines.map((line) => ({ ...line, quantity: 1 })))
  const entities = yield* db.use(itemGroupsOf)(parts.flat().map(({ entityId }) => EntityId.make(entityId)))
  const groups = [...new Set([...entities.values()].flatMap(({ group }) => group ?? []))]
  const rows = yield* db.table(stationGroups).list({ itemGroup: { in: groups } }, { limit: 10_000 })
  const open = yield* db.table(stations).list({ id: { in: rows.map(({ stationId }) => stationId) }, isActive: true })
  const isOpen = new Set(open.map(({ id }) => id))
  return new Map(lines.map(({ id }, at) => {
    const dishes = new Map<string, Dish>()
    for (const { entityId, itemName, modifiers, quantity, variantId } of parts[at] ?? []) {
      const known = entities.get(entityId)
      for (const { itemGroup, stationId } of rows) {
        if (itemGroup !== known?.group || !isOpen.has(stationId)) continue
        const name = (itemName ?? known.title ?? "-").slice(0, 255)
        const dish = { stationId, entityId, variantId, itemName: name, modifiers, perUnit: quantity }
        const same = dishes.get(dishKey(dish))
        dishes.set(dishKey(dish), { ...dish, perUnit: dish.perUnit + (same?.perUnit ?? 0) })
      }
    }
    return [id, [...dishes.values()]]
  }))
})

/** Units of each dish that lines have too few or too many of. A line stays at the stations that cook it. */
const changesOf = (lines: ReadonlyArray<WantedLine>, { items }: Fired, fresh: Map<string, ReadonlyArray<Dish>>) =>
  lines.flatMap((line): ReadonlyArray<Change> => {
    const own = items.filter(({ lineId }) => lineId === line.id)
    const dishes = own.length === 0
      ? fresh.get(line.id) ?? []
      : [...new Map(own.map((one) => [dishKey(one), one])).values()]
    return dishes.flatMap((dish) => {
      const cooked = own.filter((one) => dishKey(one) === dishKey(dish)).reduce((sum, one) => sum + netOf(one), 0)
      const units = line.quantity * dish.perUnit - cooked
      return units === 0 ? [] : [{ line, dish, units }]
    })
  })

/** The first course is 1. */
const courseName = (names: ReadonlyArray<string>, course: number | null): string | null =>
  course === null ? null : names[course - 1] ?? `Course ${course}`

const itemOf = (courses: ReadonlyArray<string>) => ({ dish, line, units }: Change): NewItem => ({
  ...Struct.pick(dish, ["entityId", "itemName", "modifiers", "perUnit", "stationId", "variantId"]),
  lineId: line.id,
  quantity: Math.abs(units),
  cancelledQuantity: Math.max(0, -units),
  courseName: courseName(courses, line.course),
  coursePriority: line.course ?? 0,
  showCourseLabel: line.course !== null,
  seat: line.seat,
  notes: line.notes
})

/** The tickets of a station: what is new, and what is cancelled. */
const ticketsOf = Effect.fnUntraced(function*(
  db: PluginDatabase,
  origin: Origin,
  changes: ReadonlyArray<Change>,
  items: ReadonlyArray<TicketItem>,
  [stationId, firedAt]: readonly [string, Date]
) {
  const { courses } = yield* RestaurantOptions
  const here = changes.filter(({ dish }) => dish.stationId === stationId)
  const had = items.filter((one) => one.stationId === stationId)
  const left = [...had.map(netOf), ...here.map(({ units }) => units)].reduce((sum, units) => sum + units, 0)
  const made: Array<NewTicket> = []
  const kinds = [
    [had.length === 0 ? "new_order" : "modified", here.filter(({ units }) => units > 0)],
    [left === 0 ? "cancelled" : "partially_cancelled", here.filter(({ units }) => units < 0)]
  ] as const
  for (const [type, changed] of kinds) {
    if (changed.length === 0) continue
    const ticketNumber = yield* db.use(ticketNumbers).next({ stationId, businessDate: origin.businessDate })
    made.push({ ...origin, type, stationId, firedAt, ticketNumber, items: changed.map(itemOf(courses)) })
  }
  return made
})

const progress = ["pending", "preparing", "done"]
const leastDone = Order.mapInput(Order.Number, ({ status }: TicketItem) => progress.indexOf(status))

/** Takes cancelled units from the items that were fired: what is not begun first, then the newest. */
const cancelItems = Effect.fnUntraced(function*(
  db: PluginDatabase,
  changes: ReadonlyArray<Change>,
  { all, items, tickets: own }: Fired,
  servedAt: Date
) {
  const cancelled = new Map<string, number>()
  for (const { dish, line, units } of changes) {
    let left = -units
    const rows = items.filter((one) => one.lineId === line.id && dishKey(one) === dishKey(dish)).toReversed()
    for (const row of rows.toSorted(leastDone)) {
      const taken = Math.min(left, netOf(row))
      if (taken <= 0) continue
      left -= taken
      cancelled.set(row.id, row.cancelledQuantity + taken)
    }
  }
  if (cancelled.size === 0) return
  yield* db.table(ticketItems).updateEach([...cancelled].map(([id, cancelledQuantity]) => ({ id, cancelledQuantity })))
  const touched = new Set(all.filter(({ id }) => cancelled.has(id)).map(({ ticketId }) => ticketId))
  // A ticket of which nothing is left is off the screen: the one that cancels it stands there.
  const isEmpty = (id: string) =>
    all.every((one) => one.ticketId !== id || (cancelled.get(one.id) ?? one.cancelledQuantity) === one.quantity)
  const over = own.filter(({ id, status }) => status !== "served" && touched.has(id) && isEmpty(id))
  if (over.length > 0) {
    yield* db.table(tickets).updateEach(over.map(({ id }) => ({ id, status: "served" as const, servedAt })))
  }
})

/** Goods of a line that no station cooks. */
const unroutedOf = (lines: ReadonlyArray<WantedLine>, fresh: Map<string, ReadonlyArray<Dish>>) =>
  lines.filter(({ id }) => fresh.get(id)?.length === 0)
    .map((line) => ({ lineId: line.id, ...Struct.pick(line, ["entityId", "variantId", "quantity"]) }))

/** How lines are fired. */
export interface Firing<E, R> {
  /** Only lines of this course are looked at. */
  readonly course?: number | undefined
  /** May refuse to cook more, by what the kitchen has to cook of all lines then. */
  readonly admit?: (lines: ReadonlyArray<WantedLine>) => Effect.Effect<void, E, R>
}

/**
 * Brings what stations have of lines to their quantities: new units on one ticket for each station, units too many on a
 * ticket that cancels. Repeating it changes nothing. Runs in a transaction that keeps the sale or order from others, whose
 * `lines` are all of it.
 */
export const fireLines = Effect.fn("Kitchen.fire")(function*<E = never, R = never>(
  db: PluginDatabase,
  origin: Origin,
  lines: ReadonlyArray<WantedLine>,
  { admit, course }: Firing<E, R> = {}
) {
  const fired = yield* firedOf(db, lines.map(({ id }) => id))
  const asked = course === undefined ? lines : lines.filter((line) => line.course === course)
  const known = new Set(fired.items.map(({ lineId }) => lineId))
  const fresh = yield* newDishes(db, asked.filter(({ id, quantity }) => quantity > 0 && !known.has(id)))
  const changes = changesOf(asked, fired, fresh)
  if (admit !== undefined && changes.some(({ units }) => units > 0)) {
    yield* admit(lines.filter((line) => known.has(line.id) || changes.some((one) => one.line === line)))
  }
  const firedAt = yield* DateTime.nowAsDate
  // Counters of stations in one order, so that no two transactions wait for each other.
  const stationIds = [...new Set(changes.map(({ dish }) => dish.stationId))].toSorted()
  const each = yield* Effect.forEach(stationIds, (id) => ticketsOf(db, origin, changes, fired.items, [id, firedAt]))
  yield* cancelItems(db, changes.filter(({ units }) => units < 0), fired, firedAt)
  const made = each.flat()
  const rows = made.length === 0
    ? []
    : yield* db.table(tickets).insertMany(made.map(({ items: _, ...row }) => row))
  const items = rows.flatMap(({ id: ticketId }, at) => (made[at]?.items ?? []).map((item) => ({ ...item, ticketId })))
  if (items.length > 0) yield* db.table(ticketItems).insertMany(items)
  yield* printTickets(db, rows)
  return { tickets: rows, unrouted: unroutedOf(asked, fresh) }
})
