import { DateTime, Effect, Schema, Stream } from "effect"
import {
  about,
  type CurrentActor,
  FreeText,
  InvalidTransition,
  messageOf,
  Moment,
  notFound,
  type PageRequest,
  type PluginCall,
  type PluginDatabase,
  type RouteError,
  serverSentEvents,
  uuid
} from "stoa/plugin"
import { requireIngredients } from "./Ingredients.ts"
import { fireSale } from "./Kitchen.ts"
import { KitchenFeed } from "./KitchenFeed.ts"
import { operate, RestaurantOptions, routes } from "./RestaurantOptions.ts"
import { findStation } from "./Stations.ts"
import {
  ItemView,
  netOf,
  shownTickets,
  states,
  type Ticket,
  ticket,
  type TicketItem,
  ticketItems,
  TicketNotFound,
  tickets,
  TicketView
} from "./Tickets.ts"

class ItemNotFound extends notFound("KdsItem", "The ticket has no such item.") {}

const lockTicket = (db: PluginDatabase, id: string) =>
  Effect.catchTag(db.table(tickets).lock(id), "NotFound/Row", () => new TicketNotFound())

/** Items of a ticket go along with it. */
const setItems = (db: PluginDatabase, ticketId: string, status: "preparing" | "done") =>
  db.table(ticketItems).updateMany({ ticketId, status: { not: status } }, { status })

const start = Effect.fnUntraced(function*(db: PluginDatabase, { id }: Ticket) {
  yield* setItems(db, id, "preparing")
  return yield* db.use(ticket).move("start", id)
})

const finish = Effect.fnUntraced(function*(db: PluginDatabase, move: "bump" | "ready", { id, startedAt }: Ticket) {
  yield* db.use(ticket).lock(move, id)
  yield* setItems(db, id, "done")
  const now = yield* DateTime.nowAsDate
  const prepDurationSeconds = startedAt === null ? null : Math.round((now.getTime() - startedAt.getTime()) / 1_000)
  return yield* db.use(ticket).move(move, id, { prepDurationSeconds })
})

const serve = (db: PluginDatabase, { id }: Ticket) => db.use(ticket).move("serve", id)

const reopen = Effect.fnUntraced(function*(db: PluginDatabase, { id }: Ticket) {
  yield* setItems(db, id, "preparing")
  return yield* db.use(ticket).move("reopen", id, { readyAt: null, prepDurationSeconds: null })
})

const notBack = InvalidTransition.of("Only a ticket that is ready or served can be recalled.")

/** One state back. */
const recall = (db: PluginDatabase, one: Ticket) =>
  one.status === "served"
    ? db.use(ticket).move("recall", one.id, { servedAt: null })
    : one.status === "ready"
    ? reopen(db, one)
    : Effect.fail(notBack)

/** The next state, with all items done. */
const bump = (db: PluginDatabase, one: Ticket) => one.status === "ready" ? serve(db, one) : finish(db, "bump", one)

const shown = (db: PluginDatabase, one: Ticket) =>
  Effect.map(shownTickets(db, [one]), ([first = { ...one, items: [] }]) => first)

/** The route of a step: it locks the ticket before its items, as a fire does. */
const step = (
  name: "bump" | "ready" | "recall" | "serve" | "start",
  summary: string,
  from: string,
  work: (db: PluginDatabase, one: Ticket) => Effect.Effect<Ticket, RouteError, CurrentActor>
) =>
  routes.post(`/kds/tickets/:id/${name}`, {
    summary,
    description: `404 without it; 422 INVALID_TRANSITION unless it is ${from}.`,
    permission: operate,
    success: TicketView
  }).handle(({ db, params }) =>
    db.transaction(Effect.gen(function*() {
      return yield* shown(db, yield* work(db, yield* lockTicket(db, params.id)))
    }))
  )

/** Items that are left to cook; on a ticket that cancels, to acknowledge. */
const isLeft = ({ type }: Ticket, item: TicketItem) =>
  item.status !== "done" && (type === "cancelled" || type === "partially_cancelled" || netOf(item) > 0)

const itemDone = Effect.fnUntraced(function*({ db }: PluginCall, id: string, itemId: string) {
  const one = yield* lockTicket(db, id)
  const which = { id: itemId, ticketId: id }
  const done = yield* Effect.catchTag(
    db.table(ticketItems).update(which, { status: "done" }),
    "NotFound/Row",
    () => new ItemNotFound()
  )
  if (one.status !== "pending" && one.status !== "preparing") return done
  const begun = one.status === "pending" ? yield* db.use(ticket).move("start", id) : one
  const items = yield* db.table(ticketItems).list({ ticketId: id })
  if (!items.some((item) => isLeft(one, item))) yield* finish(db, "bump", begun)
  return done
})

const Unrouted = Schema.Struct({
  lineId: Schema.String,
  entityId: Schema.String,
  variantId: Schema.NullOr(Schema.String),
  quantity: Schema.Int
})

/** A page of the tickets of a station: open ones with a rush first, then the oldest; served ones from the last on. */
const ticketsOf = Effect.fnUntraced(function*(
  { db, page }: PluginCall & { readonly page: PageRequest },
  stationId: string,
  state: Ticket["status"] | undefined,
  since: Date | undefined
) {
  yield* findStation(db, stationId)
  if (state === "served") {
    const servedAt = since === undefined ? { not: null } : { gte: since }
    return yield* db.table(tickets).page({ stationId, servedAt, status: "served" }, page, ["-servedAt"])
  }
  const firedAt = since === undefined ? undefined : { gte: since }
  return yield* db.table(tickets).page({ stationId, servedAt: null, status: state, firedAt }, page, [
    "priority",
    "firedAt"
  ])
})

export const ticketRoutes = [
  routes.post("/kds/tickets/fire", {
    summary: "Send a transaction to the kitchen",
    description:
      "What stations do not have yet of it, and what is not wanted any more: each unit once. `unrouted` has lines " +
      "that no station cooks. 404; 422 for a return, and for too few ingredients where the option `shortage` is `block`.",
    permission: operate,
    input: Schema.Struct({
      transactionId: uuid.schema,
      course: Schema.optional(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 99 }))).pipe(
        about("Sends only this course; absent: all.")
      ),
      comments: Schema.optional(FreeText.check(Schema.isMaxLength(500)))
    }),
    strict: true,
    repeatable: true,
    success: Schema.Struct({
      tickets: Schema.Array(TicketView),
      unrouted: Schema.Array(Unrouted).pipe(about("Lines that no station cooks."))
    })
  }).handle((call) =>
    Effect.gen(function*() {
      const settings = yield* RestaurantOptions
      const { tickets: made, unrouted } = yield* fireSale(
        call,
        call.input,
        (lines) => requireIngredients(call.db, settings, lines, call.input.transactionId)
      )
      return { tickets: yield* shownTickets(call.db, made), unrouted }
    })
  ),
  routes.list("/kds/stations/:id/tickets", {
    summary: "List tickets of a station",
    description:
      "Without `state` those that are not served: a rush first, then the oldest. `since`: fired, or served, since then. 404.",
    permission: operate,
    query: { state: Schema.optional(Schema.Literals(states)), since: Schema.optional(Moment) },
    success: TicketView
  }).handle((call) =>
    Effect.gen(function*() {
      const found = yield* ticketsOf(call, call.params.id, call.query.state, call.query.since)
      return { ...found, items: yield* shownTickets(call.db, found.items) }
    })
  ),
  routes.raw("GET", "/kds/stations/:id/stream", {
    summary: "Stream the tickets of a station",
    description:
      "Server-sent events `tickets` with how many are pending, preparing and ready, at first and within two seconds of a " +
      "change; `version` is another one then: read the list. It ends with the process, at the latest after a quarter of an " +
      "hour; clients reconnect. 404, 503 where too many watch.",
    permission: operate,
    produces: "text/event-stream"
  }, ({ db, organizationId, params }) =>
    Effect.gen(function*() {
      const { id: stationId } = yield* findStation(db, params.id)
      const states = yield* (yield* KitchenFeed).follow({ organizationId, stationId })
      return serverSentEvents(Stream.map(states, (data) => messageOf({ event: "tickets", data })))
    })),
  step("start", "Start a ticket", "pending", start),
  step("ready", "Mark a ticket as ready", "preparing", (db, one) => finish(db, "ready", one)),
  step("serve", "Mark a ticket as served", "ready", serve),
  step("recall", "Recall a ticket by one step", "ready or served", recall),
  step("bump", "Mark all items of a ticket as done and move it on", "not served yet", bump),
  routes.post("/kds/tickets/:id/priority", {
    summary: "Rush a ticket",
    description: "404 without it.",
    permission: operate,
    input: Schema.Struct({ priority: tickets.columns.priority.schema }),
    strict: true,
    success: TicketView
  }).handle(({ db, input, params }) =>
    db.table(tickets).update(params.id, input).pipe(
      Effect.catchTag("NotFound/Row", () => new TicketNotFound()),
      Effect.flatMap((one) => shown(db, one))
    )
  ),
  routes.post("/kds/tickets/:id/items/:itemId/done", {
    summary: "Mark an item as done",
    description: "The ticket is ready once all its items are done. 404 without ticket or item.",
    permission: operate,
    success: ItemView
  }).handle((call) => call.db.transaction(itemDone(call, call.params.id, call.params.itemId)))
]
