import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import {
  afterHook,
  Amount,
  Conflict,
  CurrencyCode,
  definePlugin,
  EntityId,
  group,
  idOf,
  integer,
  OrderId,
  table,
  Text,
  WarehouseId
} from "stoa/plugin"
import { assertAddsUp, holding, onDatabase, refused, stockOf } from "../checkout/CheckoutFixtures.ts"
import { aProduct, aWarehouse } from "../support/Purchase.ts"
import { api, asAdmin, testAppLayer } from "../support/TestApp.ts"

const sales = table("register_sales", { orderId: idOf(OrderId).unique(), cash: integer })
const hooked: Array<string> = []

const Sale = Schema.Struct({
  id: Text,
  entityId: EntityId,
  warehouseId: WarehouseId,
  quantity: Schema.Int,
  /** More of the same in a line of its, which the order adds up. */
  more: Schema.optional(Schema.Int),
  unitPrice: Schema.optional(Amount),
  cash: Amount,
  card: Schema.optional(Amount),
  fail: Schema.optional(Schema.Boolean)
})

const routes = group("Register", "/register")

/** A register: its row, the order, its payments and the stock are one transaction. */
const register = definePlugin({
  id: "register",
  version: "1.0.0",
  schema: () => [sales],
  hooks: () => [afterHook("orders.afterCreate", ({ result }) => Effect.sync(() => void hooked.push(result.status)))],
  routes: () => [
    routes.post("/sales", { auth: true, input: Sale }).handle(({ db, input, services }) =>
      services.orders.createSold({
        reference: { type: "sale", id: input.id },
        currency: CurrencyCode.make("USD"),
        channel: "register",
        warehouseId: input.warehouseId,
        lineItems: [{
          entityId: input.entityId,
          quantity: input.quantity,
          ...(input.unitPrice === undefined ? {} : { isCustomPrice: true, unitPrice: input.unitPrice })
        }, ...(input.more === undefined ? [] : [{ entityId: input.entityId, quantity: input.more }])],
        tenders: [
          ...(input.card === undefined
            ? []
            : [{ method: "test", label: "Card", amount: input.card, reference: "slip-1" }]),
          { method: "test", label: "Cash", amount: input.cash }
        ]
      }, ({ id }) =>
        Effect.gen(function*() {
          yield* db.table(sales).insert({ orderId: id, cash: input.cash })
          if (input.fail === true) return yield* Effect.fail(Conflict.of("The drawer is stuck."))
        }))
    )
  ]
})

const shop = layer(testAppLayer({ plugins: [register], shipping: { type: "flat", flatRate: 490 } }), {
  excludeTestServices: true,
  timeout: "60 seconds"
})

const sell = (body: object, as: typeof asAdmin = asAdmin) => api("POST", "/api/register/sales", { as, body })
const rows = onDatabase((sql) =>
  Effect.map(
    sql`select (select count(*)::int4 from orders) as orders, (select count(*)::int4 from register_sales) as sales,
    (select count(*)::int4 from stock_movements where type = 'sale') as movements`,
    ([row]) => row
  )
)

shop("an order of goods that have left", (it) => {
  it.effect("is paid, confirmed and fulfilled together with its stock", () =>
    Effect.gen(function*() {
      const sale = {
        entityId: yield* aProduct({ price: 1_000, stock: 5 }),
        warehouseId: yield* aWarehouse(),
        quantity: 2
      }
      const order = yield* sell({ ...sale, id: "paid", cash: 1_500, card: 500 })
      assert.strictEqual(order.status, 201, JSON.stringify(order.body))
      assertAddsUp(order)
      assert.deepStrictEqual(
        ["status", "grandTotal", "shippingTotal", "amountCaptured", "amountDue", "metadata.channel"].map((field) =>
          order.at(`data.${field}`)
        ),
        ["fulfilled", 2_000, 0, 2_000, 0, "register"]
      )
      assert.deepStrictEqual(
        order.list("data.tenders").map((_, n) =>
          ["label", "captured", "status"].map((field) => order.at(`data.tenders.${n}.${field}`))
        ),
        [["Card", 500, "captured"], ["Cash", 1_500, "captured"]]
      )
      assert.strictEqual(order.at("data.lineItems.0.fulfillmentStatus"), "fulfilled")
      assert.deepStrictEqual(yield* stockOf(sale.entityId), { onHand: 3, reserved: 0 })
      assert.deepStrictEqual(hooked, ["fulfilled"])
    }))

  it.effect("is created once for its reference, by calls at once too", () =>
    Effect.gen(function*() {
      const entityId = yield* aProduct({ price: 1_000, stock: 9 })
      const sale = { id: "once", entityId, warehouseId: yield* aWarehouse(), quantity: 1, cash: 1_000 }
      const before = yield* rows
      const answers = yield* Effect.all(Array.from({ length: 4 }, () => sell(sale)), { concurrency: 4 })
      answers.push(yield* sell(sale))
      assert.deepStrictEqual(new Set(answers.map(({ status }) => status)), new Set([201]))
      assert.strictEqual(new Set(answers.map((answer) => answer.at("data.id"))).size, 1)
      const after = yield* rows
      const grown = ["orders", "sales", "movements"].map((name) => Number(after?.[name]) - Number(before?.[name]))
      assert.deepStrictEqual(grown, [1, 1, 1])
      assert.deepStrictEqual(yield* stockOf(entityId), { onHand: 8, reserved: 0 })
      refused(yield* sell({ ...sale, quantity: 2, cash: 2_000 }), 409, "CONFLICT")
      refused(yield* sell({ ...sale, cash: 600, card: 400 }), 409, "CONFLICT")
      const twice = { ...sale, id: "two-lines", more: 2, cash: 3_000 }
      const [first, again] = [yield* sell(twice), yield* sell(twice)]
      assert.deepStrictEqual([first.status, again.status], [201, 201], JSON.stringify(again.body))
      assert.strictEqual(again.at("data.id"), first.at("data.id"))
    }))

  it.effect("leaves nothing when what is written beside it fails", () =>
    Effect.gen(function*() {
      const entityId = yield* aProduct({ price: 1_000, stock: 5 })
      const sale = { id: "stuck", entityId, warehouseId: yield* aWarehouse(), quantity: 1, cash: 1_000 }
      const before = yield* rows
      refused(yield* sell({ ...sale, fail: true }), 409, "CONFLICT")
      assert.deepStrictEqual(yield* rows, before)
      assert.deepStrictEqual(yield* stockOf(entityId), { onHand: 5, reserved: 0 })
      assert.strictEqual((yield* sell(sale)).status, 201)
    }))

  it.effect("may leave less than nothing in stock, and says so", () =>
    Effect.gen(function*() {
      const entityId = yield* aProduct({ price: 1_000, stock: 1 })
      const order = yield* sell({ id: "short", entityId, warehouseId: yield* aWarehouse(), quantity: 3, cash: 3_000 })
      assert.deepStrictEqual([order.status, order.at("data.metadata.oversold")], [201, true])
      assert.deepStrictEqual(yield* stockOf(entityId), { onHand: -2, reserved: 0 })
    }))

  it.effect("is refused when its payments are not its total, and given prices need orders:manage", () =>
    Effect.gen(function*() {
      const entityId = yield* aProduct({ price: 1_000 })
      const sale = { id: "refused", entityId, warehouseId: yield* aWarehouse(), quantity: 1, cash: 999 }
      refused(yield* sell(sale), 422, "VALIDATION_FAILED")
      refused(yield* sell({ ...sale, unitPrice: 999 }, holding("orders:create")), 403, "FORBIDDEN")
      refused(yield* sell({ ...sale, cash: 1_000 }, holding("orders:read")), 403, "FORBIDDEN")
      assert.strictEqual((yield* sell({ ...sale, unitPrice: 999 })).at("data.grandTotal"), 999)
    }))
})
