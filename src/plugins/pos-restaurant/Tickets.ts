import { Effect, Schema } from "effect"
import {
  about,
  boolean,
  childOf,
  CustomerId,
  date,
  fieldsOf,
  idOf,
  integer,
  integerBetween,
  jsonOf,
  longText,
  machine,
  notFound,
  numbers,
  oneOf,
  OrderId,
  type PluginDatabase,
  type RowOf,
  table,
  text,
  timestamp,
  uuid
} from "stoa/plugin"
import { stations } from "./Stations.ts"

export const states = ["pending", "preparing", "ready", "served"] as const

/** What a station has to cook, or not to cook any more, of one sale or order (contract, plugins §3). */
export const tickets = table("kds_tickets", {
  /** Of a till; null for orders of other channels. */
  transactionId: uuid.nullable,
  stationId: uuid.references(stations),
  orderId: idOf(OrderId).nullable,
  customerId: idOf(CustomerId).nullable,
  type: oneOf(["new_order", "modified", "cancelled", "partially_cancelled"]).about(
    "Effect on what the station cooks. Tickets that cancel name the units that are not wanted any more."
  ),
  status: oneOf(states).default("pending").about("Step of the kitchen."),
  // Sorted by its letters: a rush goes first.
  priority: oneOf(["rush", "usual"]).default("usual").about("A rush goes first at its station."),
  tableNumber: text.nullable,
  orderType: oneOf(["dine_in", "takeaway", "delivery"]).about("Way the food reaches the guest."),
  operatorName: text.nullable,
  ticketNumber: text,
  businessDate: date.about("Business day of the terminal."),
  firedAt: timestamp,
  startedAt: timestamp.nullable,
  readyAt: timestamp.nullable,
  servedAt: timestamp.nullable,
  prepDurationSeconds: integer.nullable.about("Seconds from its start until it was ready; null before that."),
  comments: longText.nullable
}, {
  unique: [{ columns: ["stationId", "businessDate", "ticketNumber"] }],
  indexes: [
    { columns: ["stationId", "priority", "firedAt"], where: "served_at is null" },
    { columns: ["stationId", "servedAt"], where: "served_at is not null", descending: true },
    { columns: ["transactionId"], where: "transaction_id is not null" },
    { columns: ["orderId"] },
    { columns: ["firedAt"] }
  ],
  checks: { served: "(status = 'served') = (served_at is not null)" },
  personal: {
    of: "customerId",
    onErase: ["customerId", "comments", "tableNumber"],
    keeps: ["operatorName", "ticketNumber"]
  },
  atMost: { unbounded: "Staff and paid orders fire them." }
})
export type Ticket = RowOf<typeof tickets>

const Modifiers = Schema.Array(Schema.Struct({
  name: Schema.String,
  priceAdjustment: Schema.Int.pipe(about("Change of the price of a unit, in minor units."))
}))

/**
 * Units of a line on a ticket. All rows of a line together, without what was cancelled, are the units that a station has of
 * it: on a ticket that cancels, `quantity` is what it cancels.
 */
export const ticketItems = childOf(tickets, "ticketId", "kds_ticket_items", {
  ticketId: uuid.references(tickets),
  stationId: uuid.references(stations),
  /** Of the sale or order. */
  lineId: uuid,
  entityId: uuid,
  variantId: uuid.nullable,
  itemName: text,
  quantity: integerBetween(1, 1_000_000),
  cancelledQuantity: integerBetween(0, 1_000_000).default(0).about("Units that a later ticket cancelled."),
  perUnit: integerBetween(1, 100).default(1).about("Units for one unit of the line, of a part of a combo."),
  courseName: text.nullable,
  coursePriority: integer.default(0).about("Place of the course; lower is cooked first."),
  showCourseLabel: boolean.default(false).about("Screens show the name of the course."),
  seat: integer.nullable.about("Seat at the table; null: not given."),
  status: oneOf(["pending", "preparing", "done"]).default("pending").about("Step of the kitchen with these units."),
  modifiers: jsonOf(Modifiers, 16_000).default([]),
  notes: longText.nullable
}, {
  indexes: [{ columns: ["lineId"] }],
  checks: { cancelled: "cancelled_quantity <= quantity" },
  personal: { onErase: ["notes"], keeps: ["itemName", "courseName"] }
})
export type TicketItem = RowOf<typeof ticketItems>

/** `bump` is for what was never started, or whose items are all done. */
export const ticket = machine(tickets, {
  noun: "ticket",
  moves: {
    start: { from: ["pending"], to: "preparing", stamp: "startedAt" },
    ready: { from: ["preparing"], to: "ready", stamp: "readyAt" },
    bump: { from: ["pending", "preparing"], to: "ready", stamp: "readyAt" },
    serve: { from: ["ready"], to: "served", stamp: "servedAt" },
    reopen: { from: ["ready"], to: "preparing" },
    recall: { from: ["served"], to: "ready" }
  }
})

interface Numbered {
  readonly stationId: string
  readonly businessDate: string
}

/** `KDS-0001`: a counter for each station and business day. */
export const ticketNumbers = numbers<Numbered>({
  kind: "KDS",
  period: "day",
  date: ({ businessDate }) => businessDate,
  scope: ({ stationId }) => stationId,
  format: ({ kind, value }) => `${kind}-${String(value).padStart(4, "0")}`
})

export class TicketNotFound extends notFound("KdsTicket", "No such ticket.") {}

/** Units that a station still has to cook, or has cooked. */
export const netOf = ({ cancelledQuantity, quantity }: Pick<TicketItem, "cancelledQuantity" | "quantity">): number =>
  quantity - cancelledQuantity

export const ItemView = Schema.Struct(fieldsOf(ticketItems))
/** A ticket with its items, by course. */
export const TicketView = Schema.Struct({ ...fieldsOf(tickets), items: Schema.Array(ItemView) })
  .annotate({ identifier: "KdsTicket" })

/** The tickets with their items. */
export const shownTickets = (db: PluginDatabase, rows: ReadonlyArray<Ticket>) =>
  Effect.map(
    db.table(ticketItems).list({ ticketId: { in: rows.map(({ id }) => id) } }, {
      order: ["coursePriority", "createdAt"]
    }),
    (items) => rows.map((one) => ({ ...one, items: items.filter(({ ticketId }) => ticketId === one.id) }))
  )
