import { Effect, Schema } from "effect"
import { about, moveOf, type PluginConfig, resource, Uuid } from "stoa/plugin"
import { admin, create, read, routes } from "./Documents.ts"
import { orderPaper } from "./OrderPapers.ts"
import type { ProcurementSettings } from "./ProcurementOptions.ts"
import { orders, purchaseOrder, purchaseOrders } from "./PurchaseOrder.ts"
import { approved, cancel, change, close, draft, NewOrder, OrderPatch, sent } from "./PurchaseOrders.ts"
import { suppliers } from "./Supplier.ts"

const whole = purchaseOrders.whole("po", "items")
const missing = "404 without it;"

/** What writes and shows orders to suppliers (contract, plugins §5). */
const recordRoutes = ({ defaultCurrency }: PluginConfig) => [
  ...resource(routes, "/purchase-orders", orders, {
    noun: "purchase order",
    read,
    write: create,
    filters: ["status", "supplierId", "warehouseId"],
    search: ["poNumber", "notes"],
    machine: purchaseOrder,
    moves: { approve: false, send: false, cancel: false, edit: false, receive: false, close: false },
    create: {
      summary: "Create a draft of a purchase order",
      description:
        "Quantities and costs are those of a unit (`uomId`), by default the one the thing is bought in. 409 when the " +
        "supplier is not active; 422 for what is unknown, a quantity that is no whole number of stock units, or a missing price.",
      input: NewOrder,
      answer: (call) => draft(call, defaultCurrency, call.input)
    },
    get: whole,
    patch: {
      summary: "Change a draft",
      description:
        `\`items\` replace all lines. ${missing} 409 for lines once the supplier sells in another currency; 422 ` +
        "INVALID_TRANSITION when it is no draft.",
      input: OrderPatch,
      answer: (call) => call.db.transaction(change(call, defaultCurrency, call.params.id, call.input))
    },
    remove: false
  }),
  routes.list("/back-orders", {
    summary: "List what is missing of orders that were received in part",
    permission: read,
    query: { supplierId: Schema.optional(Uuid) },
    success: whole.success
  }).handle(({ db, page, query }) =>
    Effect.map(db.use(purchaseOrders).page({ ...query, status: "partially_received" }, page), (found) => ({
      ...found,
      items: found.items.map(({ head, lines }) => ({
        po: head,
        items: lines.filter((line) => line.quantityReceived < line.quantityOrdered)
      }))
    }))
  ),
  routes.raw("GET", "/purchase-orders/:id/order.pdf", {
    summary: "Print a purchase order",
    description: missing,
    permission: read,
    produces: "application/pdf"
  }, ({ db, params, services }) =>
    Effect.gen(function*() {
      const { head, lines } = yield* db.use(purchaseOrders).get(params.id)
      return yield* orderPaper(services, head, yield* db.table(suppliers).get(head.supplierId), lines)
    }))
]

const moveRoutes = (settings: ProcurementSettings, { defaultCurrency }: PluginConfig) => [
  moveOf(routes, "/purchase-orders", purchaseOrder, "approve", {
    summary: "Approve a purchase order",
    description:
      `What is ordered is incoming stock from then on. ${missing} 403 above the limit of the caller's role, and for who requested or last changed it; 422 ` +
      "INVALID_TRANSITION when it was not submitted.",
    allowed: admin,
    after: (order, call) => approved(call, settings, defaultCurrency, order)
  }),
  moveOf(routes, "/purchase-orders", purchaseOrder, "send", {
    summary: "Send a purchase order to its supplier",
    description: `By mail if the supplier has an address. ${missing} 422 INVALID_TRANSITION when it is not approved.`,
    allowed: create,
    after: (order, call) => sent(call, order)
  }),
  moveOf(routes, "/purchase-orders", purchaseOrder, "cancel", {
    summary: "Cancel a purchase order",
    description: `${missing} 422 INVALID_TRANSITION once something was received.`,
    allowed: admin,
    answer: (call) => cancel(call, call.params.id)
  }),
  moveOf(routes, "/purchase-orders", purchaseOrder, "close", {
    summary: "Close a purchase order of which a part was received",
    description:
      `With \`backOrder\` what is missing becomes a new draft. ${missing} 409 while goods receipts of it are open; 422 ` +
      "INVALID_TRANSITION when it is not received in part.",
    allowed: admin,
    input: Schema.NullOr(
      Schema.Struct({
        backOrder: Schema.optional(Schema.Boolean).pipe(about("Drafts an order of the goods that did not come."))
      })
    ),
    success: Schema.Struct({
      po: orders.Row.pipe(about("The purchase order.")),
      backOrder: Schema.NullOr(orders.Row).pipe(
        about("Draft of the goods that did not come; null: none was asked for.")
      )
    }),
    answer: (call) => close(call, call.params.id, call.input?.backOrder === true)
  })
]

/** Orders to suppliers. */
export const purchaseOrderRoutes = (settings: ProcurementSettings, config: PluginConfig) => [
  ...recordRoutes(config),
  ...moveRoutes(settings, config)
]
