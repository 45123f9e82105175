import { Effect } from "effect"
import type { PluginDatabase } from "stoa/plugin"
import { netOf, type Ticket, type TicketItem, ticketItems, tickets } from "./Tickets.ts"

/** Tells dishes of a line apart. */
export const dishKey = (one: Pick<TicketItem, "entityId" | "itemName" | "stationId" | "variantId">) =>
  [one.stationId, one.entityId, one.variantId, one.itemName].join(" ")

/** Units of a line that were fired at once. Each of its stations has all of them, other stations have other units. */
export interface Batch {
  readonly items: ReadonlyArray<TicketItem>
  readonly units: number
}

const inOrder = { order: ["createdAt", "id"] } as const

/** Reads the items of lines at all stations, and locks their tickets in the order of their ids. */
export const firedOf = Effect.fn("Kitchen.firedOf")(function*(db: PluginDatabase, lineIds: ReadonlyArray<string>) {
  const known = yield* db.table(ticketItems).list({ lineId: { in: lineIds } }, inOrder)
  const ids = [...new Set(known.map(({ ticketId }) => ticketId))]
  if (ids.length === 0) return { tickets: [], items: [], all: [] }
  const locked = yield* db.table(tickets).list({ id: { in: ids } }, { order: ["id"], lock: true })
  const all = yield* db.table(ticketItems).list({ ticketId: { in: ids } }, inOrder)
  const isOwn = new Set(lineIds)
  return { tickets: locked, items: all.filter(({ lineId }) => isOwn.has(lineId)), all }
})
export type Fired = Effect.Success<ReturnType<typeof firedOf>>

const netSum = (items: ReadonlyArray<TicketItem>) => items.reduce((sum, item) => sum + netOf(item) / item.perUnit, 0)

/** The batches of a line's `items`, in their order. */
export const batchesOf = (fired: ReadonlyArray<Ticket>, items: ReadonlyArray<TicketItem>): ReadonlyArray<Batch> => {
  const fires = new Map(fired.map(({ firedAt, id, transactionId }) => [id, `${transactionId} ${firedAt.getTime()}`]))
  return Array.from(Map.groupBy(items, ({ ticketId }) => fires.get(ticketId)).values(), (own) => ({
    items: own,
    units: Math.max(...Map.groupBy(own, dishKey).values().map(netSum))
  }))
}

/** Units of its line that a batch has together with others. */
export const unitsIn = (batches: ReadonlyArray<Batch>): number => batches.reduce((sum, { units }) => sum + units, 0)

/** The items that have so many units of a line, with how much of each: from the first batches on. */
export const itemsWith = (
  units: number,
  batches: ReadonlyArray<Batch>
): ReadonlyArray<readonly [TicketItem, number]> => {
  let left = units
  return batches.flatMap((batch) => {
    const part = Math.min(left, batch.units)
    left -= part
    return [...Map.groupBy(batch.items, dishKey).values()].flatMap((rows) => {
      let wanted = part
      return rows.flatMap((row): ReadonlyArray<readonly [TicketItem, number]> => {
        const taken = Math.min(wanted * row.perUnit, netOf(row))
        wanted -= taken / row.perUnit
        return taken === 0 ? [] : [[row, taken]]
      })
    })
  })
}

/** Counts the units of a line in the kitchen. */
export const unitsOf = Effect.fn("Kitchen.unitsOf")(function*(db: PluginDatabase, lineId: string) {
  const items = yield* db.table(ticketItems).list({ lineId }, inOrder)
  if (items.length === 0) return 0
  const ids = items.map(({ ticketId }) => ticketId)
  return unitsIn(batchesOf(yield* db.table(tickets).list({ id: { in: ids } }), items))
})
