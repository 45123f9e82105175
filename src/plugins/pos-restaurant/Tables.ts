import { boolean, childOf, integerBetween, json, machine, oneOf, table, text, timestamp, uuid } from "stoa/plugin"

/** A table of the floor. Layout in units of the floor plan. */
export const tables = table("pos_tables", {
  number: text.upTo(20).unique().about("Number or name on the table."),
  zone: text.upTo(100).fewValues.about("Part of the house."),
  capacity: integerBetween(1, 100).default(4).forPeople.about("Seats."),
  minimumSeats: integerBetween(1, 100).default(1).forPeople.about("Least guests."),
  shape: oneOf(["rectangle", "square", "circle"]).default("rectangle").forPeople.about("Form on the plan."),
  status: oneOf(["available", "occupied", "bill_requested", "cleaning"]).default("available").about(
    "Only an available table takes guests. Cleaning begins when they leave."
  ),
  isTakeaway: boolean.default(false).forPeople.about("Stands for orders that are taken away."),
  assignedOperatorId: text.nullable.forPeople.about("Operator who serves it."),
  layoutX: integerBetween(0, 100_000).default(0).forPeople.about("Distance from the left on the plan."),
  layoutY: integerBetween(0, 100_000).default(0).forPeople.about("Distance from the top on the plan."),
  layoutWidth: integerBetween(1, 100_000).default(100).forPeople.about("Width on the plan."),
  layoutHeight: integerBetween(1, 100_000).default(100).forPeople.about("Height on the plan."),
  metadata: json.default({})
}, { strict: true })

/** Guests at a table with their transaction. A table has one that is open; a transaction may have several tables. */
export const assignments = childOf(tables, "tableId", "pos_table_assignments", {
  tableId: uuid.references(tables),
  transactionId: uuid,
  guests: integerBetween(1, 1_000).nullable.about("Number of guests."),
  seatedAt: timestamp,
  billRequestedAt: timestamp.nullable,
  leftAt: timestamp.nullable
}, {
  unique: [{ columns: ["tableId"], where: "left_at is null" }],
  indexes: [{ columns: ["transactionId"], where: "left_at is null" }]
})

export const floor = machine(tables, {
  noun: "table",
  moves: {
    assign: { from: ["available"], to: "occupied" },
    bill: { from: ["occupied"], to: "bill_requested" },
    leave: { from: ["occupied", "bill_requested"], to: "cleaning" },
    clear: { from: ["available", "occupied", "bill_requested", "cleaning"], to: "available" },
    vacate: { from: ["occupied"], to: "available" }
  }
})
