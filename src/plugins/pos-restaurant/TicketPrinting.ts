import { Effect, Option } from "effect"
import type { PluginDatabase } from "stoa/plugin"
import { PrintQueue } from "../notifications/index.ts"
import { stations } from "./Stations.ts"
import { shownTickets, type Ticket, type TicketItem } from "./Tickets.ts"

/** Below what a print job may have. */
const mostBytes = 12_000

type Printed = Pick<TicketItem, "courseName" | "itemName" | "notes" | "quantity" | "seat"> & {
  readonly modifiers: ReadonlyArray<string>
}

const printed = ({ courseName, itemName, modifiers, notes, quantity, seat }: TicketItem): Printed => ({
  quantity,
  itemName,
  modifiers: modifiers.map(({ name }) => name.slice(0, 100)).slice(0, 20),
  notes: notes?.slice(0, 500) ?? null,
  seat,
  courseName
})

/** Items as they fit on the pages of a printer. */
const pagesOf = (items: ReadonlyArray<Printed>): ReadonlyArray<ReadonlyArray<Printed>> => {
  const pages: Array<Array<Printed>> = [[]]
  let bytes = 0
  for (const item of items) {
    const size = Buffer.byteLength(JSON.stringify(item))
    if (bytes > 0 && bytes + size > mostBytes) [bytes] = [0, pages.push([])]
    bytes += size
    pages.at(-1)?.push(item)
  }
  return pages
}

const printerOf = ({ metadata, printerId }: typeof stations.Row.Type): string | undefined => {
  const named = printerId ?? metadata["printerId"]
  return typeof named === "string" && named !== "" ? named : undefined
}

/** Queues new tickets for the printers of their stations, if the caller's transaction commits. */
export const printTickets = Effect.fn("Kitchen.print")(function*(db: PluginDatabase, rows: ReadonlyArray<Ticket>) {
  const queue = Option.getOrUndefined(yield* Effect.serviceOption(PrintQueue))
  if (queue === undefined || rows.length === 0) return
  const at = yield* db.table(stations).list({ id: { in: rows.map(({ stationId }) => stationId) } })
  for (const { id, items, ...ticket } of yield* shownTickets(db, rows)) {
    const station = at.find((one) => one.id === ticket.stationId)
    const printerId = station === undefined ? undefined : printerOf(station)
    if (station === undefined || printerId === undefined) continue
    const { comments, firedAt, operatorName, orderType, tableNumber, ticketNumber, type } = ticket
    const head = {
      ticketId: id,
      station: station.name,
      ticketNumber,
      type,
      orderType,
      tableNumber,
      operatorName,
      comments
    }
    const pages = pagesOf(items.map(printed))
    yield* Effect.forEach(pages, (page, nth) =>
      queue.print({
        type: "kot",
        printerId,
        format: null,
        content: { ...head, firedAt: firedAt.toISOString(), page: nth + 1, pages: pages.length, items: page }
      }))
  }
})
