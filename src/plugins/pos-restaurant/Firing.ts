import { Array as Arr, DateTime, Effect, Order, Struct } from "effect"
import { EntityId, type NewRowOf, type PluginDatabase } from "stoa/plugin"
import { type Batch, batchesOf, dishKey, type Fired, firedOf, itemsWith, unitsIn } from "./Batches.ts"
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

/** The dishes of lines, at the stations that are open and cook them. */
const dishesOf = Effect.fnUntraced(function*(db: PluginDatabase, lines: ReadonlyArray<WantedLine>) {
  if (lines.length === 0) return new Map<string, ReadonlyArray<Dish>>()
  const parts = yield* db.use(partsOf)(lines.map((line) => ({ ...line, quantity: 1 })))
  const entities = yield* db.use(itemGroupsOf)(parts.flat().map(({ entityId }) => EntityId.make(entityId)))
  const groups = [...new Set([...entities.values()].flatMap(({ group }) => group ?? []))]
  const rows = yield* db.table(stationGroups).list({ itemGroup: { in: groups } })
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

const progress = ["pending", "preparing", "done"]
const progressOf = ({ status }: TicketItem) => progress.indexOf(status)
const leastDone = Order.mapInput(Order.Number, progressOf)
const leastBegun = Order.mapInput(Order.Number, ({ items }: Batch) => Math.max(...items.map(progressOf)))

/** Units of a line that its stations do not have, or below 0 have too many of. */
const stateOf = (line: WantedLine, { items, tickets: own }: Fired) => {
  const rows = items.filter(({ lineId }) => lineId === line.id).toReversed().toSorted(leastDone)
  const batches = batchesOf(own, rows).toSorted(leastBegun)
  const missing = line.quantity - unitsIn(batches)
  // Items that are not begun go first, then the newest.
  return { line, missing, surplus: itemsWith(Math.max(0, -missing), batches) }
}
type LineState = ReturnType<typeof stateOf>

/** New units of each dish, and those that are cancelled where they were fired. */
const changesOf = (states: ReadonlyArray<LineState>, dishes: Map<string, ReadonlyArray<Dish>>) =>
  states.flatMap(({ line, missing, surplus }): ReadonlyArray<Change> =>
    missing > 0
      ? (dishes.get(line.id) ?? []).map((dish) => ({ line, dish, units: missing * dish.perUnit }))
      : Object.values(Arr.groupBy(surplus, ([item]) => dishKey(item))).map((own) => ({
        line,
        dish: own[0][0],
        units: -own.reduce((sum, [, units]) => sum + units, 0)
      }))
  )

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

/** Takes cancelled units from the items that were fired. */
const cancelItems = Effect.fnUntraced(function*(
  db: PluginDatabase,
  surplus: LineState["surplus"],
  { all, tickets: own }: Fired,
  servedAt: Date
) {
  if (surplus.length === 0) return
  const cancelled = new Map(surplus.map(([{ cancelledQuantity, id }, units]) => [id, cancelledQuantity + units]))
  yield* db.table(ticketItems).updateEach([...cancelled].map(([id, cancelledQuantity]) => ({ id, cancelledQuantity })))
  const touched = new Set(surplus.map(([{ ticketId }]) => ticketId))
  // A ticket of which nothing is left is off the screen: the one that cancels it stands there.
  const isEmpty = (id: string) =>
    all.every((one) => one.ticketId !== id || (cancelled.get(one.id) ?? one.cancelledQuantity) === one.quantity)
  const over = own.filter(({ id, status }) => status !== "served" && touched.has(id) && isEmpty(id))
  if (over.length > 0) {
    yield* db.table(tickets).updateEach(over.map(({ id }) => ({ id, status: "served" as const, servedAt })))
  }
})

/** Units of lines that no open station cooks. */
const unroutedOf = (states: ReadonlyArray<LineState>, dishes: Map<string, ReadonlyArray<Dish>>) =>
  states.filter(({ line }) => dishes.get(line.id)?.length === 0).map(({ line, missing: quantity }) => ({
    lineId: line.id,
    entityId: line.entityId,
    variantId: line.variantId,
    quantity
  }))

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
  const states = asked.map((line) => stateOf(line, fired))
  const dishes = yield* dishesOf(db, states.filter(({ missing }) => missing > 0).map(({ line }) => line))
  const changes = changesOf(states, dishes)
  if (admit !== undefined && changes.some(({ units }) => units > 0)) {
    const known = new Set(fired.items.map(({ lineId }) => lineId))
    yield* admit(lines.filter((line) => known.has(line.id) || changes.some((one) => one.line === line)))
  }
  const firedAt = yield* DateTime.nowAsDate
  // Counters of stations in one order, so that no two transactions wait for each other.
  const stationIds = [...new Set(changes.map(({ dish }) => dish.stationId))].toSorted()
  const each = yield* Effect.forEach(stationIds, (id) => ticketsOf(db, origin, changes, fired.items, [id, firedAt]))
  yield* cancelItems(db, states.flatMap(({ surplus }) => surplus), fired, firedAt)
  const made = each.flat()
  const rows = made.length === 0
    ? []
    : yield* db.table(tickets).insertMany(made.map(({ items: _, ...row }) => row))
  const items = rows.flatMap(({ id: ticketId }, at) => (made[at]?.items ?? []).map((item) => ({ ...item, ticketId })))
  if (items.length > 0) yield* db.table(ticketItems).insertMany(items)
  yield* printTickets(db, rows)
  return { tickets: rows, unrouted: unroutedOf(states, dishes) }
})
