import { Effect, Schema, Struct } from "effect"
import {
  amount,
  childOf,
  date,
  document,
  inputOf,
  integerBetween,
  machine,
  moveOf,
  oneOf,
  resource,
  table,
  text,
  timestamp,
  uuid
} from "stoa/plugin"
import { personOf, refuseOwn } from "./Approvals.ts"
import { admin, create, decided, itemIssues, read, routes } from "./Documents.ts"
import type { ProcurementSettings } from "./ProcurementOptions.ts"
import { orderItems, orders } from "./PurchaseOrder.ts"
import { matchBill } from "./PurchasingRepo.ts"
import { maxCost, maxQuantity, suppliers } from "./Supplier.ts"

/** Bills of suppliers, compared with their orders and the goods that were accepted. */
export const bills = table("supplier_bills", {
  billNumber: text.about("Number on the bill."),
  poId: uuid.references(orders, "restrict"),
  supplierId: uuid.references(suppliers, "restrict"),
  status: oneOf(["matched", "discrepancy", "approved", "rejected"]).about(
    "matched: it bills what was received at the agreed cost. discrepancy: it waits for an approval."
  ),
  billedOn: date.forPeople.about("Day on the bill."),
  taxTotal: integerBetween(0, maxCost).money().default(0),
  total: amount.about("Amount on the bill."),
  enteredBy: text.about("User who entered it."),
  decidedBy: text.nullable.about("User who approved or rejected it."),
  decidedAt: timestamp.nullable
}, { unique: [{ columns: ["supplierId", "billNumber"] }] })

/** Quantity and cost are in the unit of the order's line. */
export const billItems = childOf(bills, "billId", "supplier_bill_items", {
  billId: uuid.references(bills),
  poItemId: uuid.references(orderItems, "restrict"),
  quantity: integerBetween(1, maxQuantity),
  unitCost: integerBetween(0, maxCost).money().about("Cost of one unit on the bill."),
  discrepancy: text.nullable.about("Differs in `quantity`, `cost` or both; null: it is as ordered and accepted.")
}, { indexes: [{ columns: ["poItemId"] }], unique: [{ columns: ["billId", "poItemId"] }] })

const documents = document({ head: bills, lines: billItems })
export const supplierBill = machine(bills, {
  noun: "supplier bill",
  moves: {
    approve: { from: ["discrepancy"], to: "approved", ...decided },
    reject: { from: ["matched", "discrepancy"], to: "rejected", ...decided }
  }
})

const NewBill = Schema.Struct({
  ...Struct.pick(inputOf(bills).fields, ["billNumber", "poId", "billedOn", "taxTotal"]),
  items: Schema.Array(inputOf(billItems, { required: ["poItemId", "quantity", "unitCost"] }))
    .check(Schema.isBetweenLength(1, 1_000))
})

/** Bills of suppliers (three-way match). */
export const billRoutes = ({ costTolerancePercent, fourEyes }: ProcurementSettings) => [
  ...resource(routes, "/bills", bills, {
    noun: "supplier bill",
    read,
    write: create,
    filters: ["status", "poId", "supplierId"],
    search: ["billNumber"],
    machine: supplierBill,
    moves: { approve: false, reject: admin },
    create: {
      summary: "Create a supplier's bill",
      description:
        "Compares it with its order and what was accepted of it. 409 for a number that the supplier has used.",
      input: NewBill,
      answer: ({ actor, db, input: { items, taxTotal = 0, ...head } }) =>
        db.transaction(Effect.gen(function*() {
          const { supplierId } = yield* db.table(orders).lock(head.poId)
          const found = yield* db.use(matchBill)(head.poId, items, costTolerancePercent)
          const issues = itemIssues()
          const lines = yield* issues.orElse(items.flatMap((item, n) =>
            found[n]?.isKnown === true
              ? [{ ...item, discrepancy: found[n].discrepancy }]
              : issues.refuse(n, "poItemId", "must be a line of the order.")
          ))
          const status = lines.some(({ discrepancy }) => discrepancy !== null)
            ? "discrepancy" as const
            : "matched" as const
          const total = lines.reduce((sum, { quantity, unitCost }) => sum + quantity * unitCost, taxTotal)
          const bill = { ...head, supplierId, status, taxTotal, total, enteredBy: personOf(actor) }
          return (yield* db.use(documents).create(bill, lines)).head
        }))
    },
    get: documents.whole("bill", "items"),
    patch: false,
    remove: false
  }),
  moveOf(routes, "/bills", supplierBill, "approve", {
    summary: "Approve a bill with a discrepancy",
    description:
      "404 without it; 403 for the person who entered it; 422 INVALID_TRANSITION unless it has a discrepancy.",
    allowed: admin,
    after: ({ enteredBy }, { actor }) => refuseOwn(fourEyes, actor, [enteredBy])
  })
]
