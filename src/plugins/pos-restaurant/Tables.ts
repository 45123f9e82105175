import { boolean, childOf, integerBetween, json, machine, oneOf, table, text, timestamp, uuid } from "stoa/plugin"

/** A table of the floor. Layout in units of the floor plan. */
export const tables = table("pos_tables", {
  number: text.upTo(20).unique(),
  zone: text.upTo(100).fewValues,
  capacity: integerBetween(1, 100).default(4).forPeople,
  minimumSeats: integerBetween(1, 100).default(1).forPeople,
  shape: oneOf(["rectangle", "square", "circle"]).default("rectangle").forPeople,
  status: oneOf(["available", "occupied", "bill_requested", "cleaning"]).default("available"),
  isTakeaway: boolean.default(false).forPeople,
  assignedOperatorId: text.nullable.forPeople,
  layoutX: integerBetween(0, 100_000).default(0).forPeople,
  layoutY: integerBetween(0, 100_000).default(0).forPeople,
  layoutWidth: integerBetween(1, 100_000).default(100).forPeople,
  layoutHeight: integerBetween(1, 100_000).default(100).forPeople,
  metadata: json.default({})
}, { strict: true })

/** Guests at a table with their transaction. A table has one that is open; a transaction may have several tables. */
export const assignments = childOf(tables, "tableId", "pos_table_assignments", {
  tableId: uuid.references(tables),
  transactionId: uuid,
  guests: integerBetween(1, 1_000).nullable,
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
