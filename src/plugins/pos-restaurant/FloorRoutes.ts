import { Effect, Schema } from "effect"
import { about, fieldsOf, inputOf, moveOf, type PluginCall, resource, type RowOf, uuid, type View } from "stoa/plugin"
import { assign, empty, requestBill, transfer } from "./Floor.ts"
import { admin, operate, routes } from "./RestaurantOptions.ts"
import { assignments, floor, tables } from "./Tables.ts"
import { Zone, zonesOf } from "./ZonesRepo.ts"

const Assignment = Schema.Struct(fieldsOf(assignments)).annotate({ identifier: "DiningTableAssignment" })
const TableView = Schema.Struct({
  ...fieldsOf(tables),
  assignment: Schema.NullOr(Assignment).annotate({ description: "Guests who sit there; null: none." })
}).annotate({ identifier: "DiningTable" })

const view: View<typeof tables, typeof TableView.Type> = {
  success: TableView,
  show: (rows, { db }) =>
    Effect.map(
      db.table(assignments).list({ tableId: { in: rows.map(({ id }) => id) }, leftAt: null }),
      (seated) => rows.map((row) => ({ ...row, assignment: seated.find(({ tableId }) => tableId === row.id) ?? null }))
    )
}

/** A table after a change of it. */
const shown = ({ db }: PluginCall, row: RowOf<typeof tables>) =>
  Effect.map(
    db.table(assignments).first({ tableId: row.id, leftAt: null }),
    (assignment) => ({ ...row, assignment: assignment ?? null })
  )

const move = (name: "leave" | "clear", summary: string, description: string) =>
  routes.post(`/tables/:id/${name}`, { summary, description, permission: operate, success: TableView })
    .handle((call) => Effect.flatMap(empty(call, call.params.id, name), (row) => shown(call, row)))

export const floorRoutes = [
  routes.get("/tables/zones", {
    summary: "Count the tables of each zone",
    permission: operate,
    success: Schema.Array(Zone)
  }).handle(({ db }) => db.use(zonesOf)()),
  ...resource(routes, "/tables", tables, {
    noun: "table",
    read: operate,
    write: admin,
    filters: ["zone", "status"],
    order: ["number", "id"],
    without: ["status"],
    view,
    remove: false
  }),
  routes.patch("/tables/:id/layout", {
    summary: "Move a table on the floor plan",
    description: "404 without it.",
    permission: admin,
    input: inputOf(tables, { optional: ["layoutX", "layoutY", "layoutWidth", "layoutHeight"] }),
    strict: true,
    success: TableView
  }).handle((call) =>
    Effect.flatMap(call.db.table(tables).update(call.params.id, call.input), (row) => shown(call, row))
  ),
  routes.post("/tables/:id/assign", {
    summary: "Seat the guests of a transaction",
    description:
      "A transaction may have several tables. Repeated for the same one, it changes `guests`. Prices that depend on guests " +
      "follow. 404; 422 for more guests than it has seats, without pos:manage, and INVALID_TRANSITION when the table is not available, or the transaction has ended.",
    permission: operate,
    input: inputOf(assignments, { required: ["transactionId"], optional: ["guests"] }),
    strict: true,
    success: Assignment
  }).handle((call) => assign(call, call.params.id, call.input)),
  moveOf(routes, "/tables", floor, "bill", {
    summary: "Request the bill of a table",
    description: "404; 409 while a checklist before the bill is not complete; 422 when the table is not occupied.",
    allowed: operate,
    view,
    after: ({ id }, call) => requestBill(call, id)
  }),
  move("leave", "Record that guests have left", "The table is to be cleaned. 404; 422 for a table without guests."),
  move("clear", "Clear a table: make it available", "Also one with guests, whose sale stays as it is. 404 without it."),
  routes.post("/tables/:id/transfer", {
    summary: "Move guests to another table of the zone",
    description: "404; 409 for another zone; 422 when the table is not occupied, or the other one is not available.",
    permission: operate,
    input: Schema.Struct({ toTableId: uuid.schema }),
    strict: true,
    success: Schema.Struct({
      from: TableView.pipe(about("The table that the guests have left.")),
      to: TableView.pipe(about("Their new table."))
    })
  }).handle((call) =>
    Effect.flatMap(
      transfer(call, call.params.id, call.input.toTableId),
      ({ from, to }) => Effect.all({ from: shown(call, from), to: shown(call, to) })
    )
  )
]
