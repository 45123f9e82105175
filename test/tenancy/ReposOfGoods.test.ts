import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CreateOrderRepo, createOrderRepoLayer } from "../../src/domain/checkout/CreateOrderRepo.ts"
import { FulfillmentRepo } from "../../src/domain/fulfillment/FulfillmentRepo.ts"
import { handoverLayer, ShipmentRepo } from "../../src/domain/fulfillment/ShipmentRepo.ts"
import { OrderStock } from "../../src/domain/inventory/Inventory.ts"
import { Handover } from "../../src/domain/orders/OrderStatus.ts"
import { CaptureRepo } from "../../src/domain/payments/CaptureRepo.ts"
import { RefundRepo } from "../../src/domain/payments/RefundRepo.ts"
import { RefundReversalRepo } from "../../src/domain/payments/RefundReversalRepo.ts"
import { FulfillmentId, newId, type OrderLineId, type RefundId } from "../../src/domain/platform/ids/Id.ts"
import { buildOrder } from "../support/OrderBuilder.ts"
import { TestDatabase } from "../support/Postgres.ts"
import {
  answersApart,
  asOwner,
  insert,
  isFound,
  leavesOut,
  lengthOf,
  openAnother,
  type Question,
  shown
} from "./AnotherTenant.ts"

const Repos = Layer.mergeAll(
  CaptureRepo.layer,
  createOrderRepoLayer,
  FulfillmentRepo.layer,
  handoverLayer,
  RefundRepo.layer,
  RefundReversalRepo.layer,
  ShipmentRepo.layer
).pipe(
  // No request gets as far as the stock.
  Layer.provide(Layer.mock(OrderStock, {})),
  Layer.provideMerge(TestDatabase)
)

const page = { page: 1, limit: 20 }
const at = new Date("2026-01-01")

/** A shipment of all units of an order. */
const aShipment = Effect.fnUntraced(function*(order: { readonly id: string }) {
  const sql = yield* SqlClient.SqlClient
  const id = newId()
  yield* insert("fulfillments", { id, order_id: order.id, type: "physical", status: "shipped" })
  yield* sql`insert into fulfillment_lines (organization_id, fulfillment_id, order_line_id, quantity)
    select 'org_default', ${id}::uuid, id, quantity from order_lines where order_id = ${order.id}::uuid`
  return id
})

/** Orders of the owner: paid and shipped with a pending refund, taken off the shelf, not captured, cancelled. */
const someOrders = Effect.gen(function*() {
  yield* openAnother
  const [paid, refund] = [yield* buildOrder(), newId<RefundId>()]
  yield* insert("refunds", { id: refund, order_id: paid.id, amount: 500, reason: "damaged", status: "pending" })
  yield* aShipment(paid)
  return {
    paid,
    refund,
    taken: yield* buildOrder({ lines: [{ quantity: 3, fulfillmentStatus: "fulfilled" }] }),
    open: yield* buildOrder({ captured: null }),
    cancelled: yield* buildOrder({ captured: null, status: "cancelled" }),
    digital: yield* buildOrder()
  }
})

type Records = Effect.Success<typeof someOrders>

const delivered = ({ digital }: Records) => ({
  id: newId<FulfillmentId>(),
  orderId: digital.id,
  type: "digital-access",
  status: "fulfilled",
  lineItems: [{
    id: digital.lines[0]?.id ?? newId<OrderLineId>(),
    title: "A thing",
    variantTitle: null,
    sku: null,
    quantity: 1
  }],
  createdAt: at,
  updatedAt: at
} as const)

const forbidden = () => Effect.die(new Error("A rule was asked about another tenant's order."))

const questions: ReadonlyArray<Question<Records, Layer.Success<typeof Repos>>> = [
  ["shipments", ({ paid }) => FulfillmentRepo.use((repo) => shown(repo.ofOrder(paid.id, page))), [0, 0], [1, 1]],
  ["goods", ({ paid }) => ShipmentRepo.use((repo) => isFound(repo.goodsOf(paid.id))), false, true],
  ["units off the shelf", ({ taken }) => Handover.use((handover) => lengthOf(handover.unshelved(taken.id))), 0, 1],
  [
    "digital goods",
    (of) => FulfillmentRepo.use((repo) => lengthOf(repo.deliver(of.digital.id, [delivered(of)]))),
    0,
    1
  ],
  ["a refund", ({ refund }) => RefundRepo.use((repo) => isFound(repo.find(refund))), false, true],
  ["a refund record", ({ refund }) => RefundRepo.use((repo) => isFound(repo.record(refund))), false, true],
  ["refunds", ({ paid }) => RefundRepo.use((repo) => isFound(repo.ofOrder(paid.id, page))), false, true],
  [
    "a payment",
    ({ paid }) => CreateOrderRepo.use((repo) => repo.settle(paid.id, "pi_other", { total: 1, parts: [] })),
    undefined
  ],
  ["a late payment", ({ cancelled }) => RefundRepo.use((repo) => repo.returnLate(cancelled.id, 1_000, "pi_1")), null],
  [
    "a refund elsewhere",
    ({ paid }) => RefundRepo.use((repo) => repo.recordExternal(paid.id, paid.grandTotal, "ref", "pi_1")),
    0
  ],
  ["a completed refund", ({ refund }) => RefundRepo.use((repo) => repo.complete(refund, "ref")), false],
  [
    "a failed refund",
    ({ refund }) => RefundReversalRepo.use((repo) => repo.fail(refund, { message: "no", refused: true })),
    false
  ],
  ["a sent refund", ({ refund }) => RefundRepo.use((repo) => repo.send(refund)), false, true],
  [
    "a capture",
    ({ open }) => CaptureRepo.use((repo) => Effect.asVoid(repo.claim(open.id, 5))),
    "NotFound/Order",
    undefined
  ]
]

/** Once the capture is claimed. */
const later: typeof questions = [
  ["a released capture", ({ open }) => CaptureRepo.use((repo) => repo.release(open.id, 0, [])), undefined]
]

it.layer(Repos, { excludeTestServices: true })("repositories of goods and money", (it) => {
  it.effect("repositories of goods and money answer another tenant nothing of the owner's goods and money and change none", () =>
    Effect.gen(function*() {
      const orders = yield* someOrders
      yield* answersApart(orders, questions)
      yield* answersApart(orders, later)
    }))

  it.effect("repositories of goods and money count nothing towards an order that is in another tenant's name", () =>
    Effect.gen(function*() {
      yield* openAnother
      const order = yield* buildOrder({ lines: [{ quantity: 3, fulfillmentStatus: "fulfilled" }] })
      const shipment = yield* aShipment(order)
      const covered = ShipmentRepo.use((repo) =>
        Effect.map(repo.goodsOf(order.id), (read) => read?.lines.map((one) => one.covered))
      )
      yield* leavesOut(covered, [3], ["fulfillments", "order_id", order.id, [0]], [
        "order_lines",
        "order_id",
        order.id,
        []
      ])
      const change = ShipmentRepo.use((repo) =>
        Effect.flip(repo.change(order.id, FulfillmentId.make(shipment), forbidden))
      )
      assert.strictEqual((yield* asOwner(change))._tag, "NotFound/Fulfillment")
      yield* insert("refunds", { id: newId(), order_id: order.id, amount: 5, reason: "r", status: "pending" })
      const refunds = RefundRepo.use((repo) => Effect.map(repo.ofOrder(order.id, page), (all) => all?.items.length))
      yield* leavesOut(refunds, 1, ["refunds", "order_id", order.id, 0])
    }))

  it.effect("repositories of goods and money grant no file that another tenant keeps under the same ids", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const order = yield* buildOrder()
      const entity = order.lines[0]?.entityId ?? ""
      const [variant, fulfillment] = [newId(), newId()]
      const metadata = (file: string) => JSON.stringify({ downloadUrl: file })
      yield* sql`insert into catalog_entities (id, organization_id, type, slug, status, is_visible, metadata)
        values (${entity}::uuid, 'org_default', 'digitalDownload', ${entity}, 'active', true,
          ${metadata("https://files.example/entity")}::jsonb)`
      yield* sql`insert into variants (id, organization_id, entity_id, combination, metadata) values (${variant}::uuid,
        'org_default', ${entity}::uuid, ${variant}, ${metadata("https://files.example/variant")}::jsonb)`
      yield* sql`update order_lines set entity_type = 'digitalDownload', variant_id = ${variant}::uuid
        where order_id = ${order.id}::uuid`
      yield* sql`insert into fulfillments (id, organization_id, order_id, order_line_id, type, status)
        select ${fulfillment}::uuid, 'org_default', order_id, id, 'digital-download', 'fulfilled' from order_lines
        where order_id = ${order.id}::uuid`
      const granted = FulfillmentRepo.use((repo) =>
        Effect.map(repo.filesOf(order.id, page), ({ items }) => items.map((one) => [one.file, one.fulfillmentId]))
      )
      yield* leavesOut(
        granted,
        [["https://files.example/variant", fulfillment]],
        ["variants", "id", variant, [["https://files.example/entity", fulfillment]]],
        ["catalog_entities", "id", entity, [[null, fulfillment]]],
        ["fulfillments", "id", fulfillment, [[null, null]]]
      )
    }))
})
