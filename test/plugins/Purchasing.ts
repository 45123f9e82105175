import { Effect } from "effect"
import {
  childOf,
  decimal,
  definePlugin,
  document,
  group,
  inputOf,
  integerBetween,
  machine,
  numbers,
  oneOf,
  ownedBy,
  table,
  text,
  timestamp,
  uuid
} from "stoa/plugin"

export const orders = table("purchasing_orders", {
  number: text.unique(),
  supplier: text,
  requestedBy: text,
  customerId: uuid.nullable,
  status: oneOf(["draft", "approved", "sent", "cancelled"]).default("draft"),
  approvedAt: timestamp.nullable,
  approvedBy: text.nullable,
  note: text.nullable
})

export const lines = childOf(orders, "orderId", "purchasing_lines", {
  orderId: uuid.references(orders),
  item: text,
  quantity: decimal(12, 3),
  unitCost: integerBetween(1, 1_000_000)
})

export const purchaseOrder = machine(orders, {
  noun: "purchase order",
  moves: {
    approve: { from: ["draft"], to: "approved", stamp: "approvedAt", by: "approvedBy", emits: "purchasing.approved" },
    send: { from: ["approved"], to: "sent" },
    cancel: { from: ["draft", "approved"], to: "cancelled" }
  }
})

export const poNumbers = numbers<{ readonly supplier: string }>({ kind: "PO", period: "year" })

export const purchaseOrders = document({ head: orders, lines, number: { number: poNumbers } })

export const own = ownedBy(orders, { user: "requestedBy", staff: "purchasing:all" })
export const ofCustomer = ownedBy(orders, { customer: "customerId", staff: "purchasing:all" })

const routes = group("Purchasing", "/purchasing")

/** Orders to suppliers: a document with numbers, a machine and owners. */
export const purchasing = definePlugin({
  id: "purchasing",
  version: "1.0.0",
  permissions: [{ scope: "purchasing:all", description: "See all orders to suppliers" }],
  schema: () => [orders, lines],
  events: ["purchasing.approved"],
  routes: () => [
    routes.list("/orders", { auth: true, success: orders.Row }).handle((call) =>
      call.db.use(own).page({ status: "draft" }, call.page)
    ),
    routes.get("/orders/:id", { auth: true, success: orders.Row }).handle((call) =>
      call.db.use(own).get(call.params.id)
    ),
    routes.list("/mine", { public: "visitors have none", success: orders.Row }).handle((call) =>
      call.db.use(ofCustomer).page({}, call.page)
    ),
    routes.post("/orders/:id/approve", { auth: true, success: orders.Row }).handle((call) =>
      Effect.flatMap(
        call.db.use(own).which(call.params.id),
        (which) => call.db.use(purchaseOrder).move("approve", which)
      )
    ),
    routes.post("/orders", {
      auth: true,
      input: inputOf(orders, { required: ["supplier"], optional: ["note", "customerId"] }),
      success: orders.Row
    }).handle(({ actor, db, input }) =>
      Effect.map(
        db.use(purchaseOrders).create({ ...input, requestedBy: actor.userId ?? "" }, [
          { item: "screws", quantity: "12.5", unitCost: 3 }
        ]),
        ({ head }) => head
      )
    )
  ]
})
