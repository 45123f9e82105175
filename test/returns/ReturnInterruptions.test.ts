import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { CreateOrderRepo } from "../../src/domain/checkout/CreateOrderRepo.ts"
import { PaymentAdapters } from "../../src/domain/payments/PaymentAdapter.ts"
import { RefundCalculationRepo } from "../../src/domain/payments/RefundCalculationRepo.ts"
import { RefundRepo } from "../../src/domain/payments/RefundRepo.ts"
import { CurrentActor } from "../../src/domain/platform/access/Actor.ts"
import { EntityId, OrderId, OrderLineId, ReturnId } from "../../src/domain/platform/ids/Id.ts"
import { Returns } from "../../src/domain/returns/Returns.ts"
import { Captures } from "../../src/workflows/checkout/Captures.ts"
import { ReturnExchanges } from "../../src/workflows/orders/ReturnExchanges.ts"
import { ReturnRefunds } from "../../src/workflows/orders/ReturnRefunds.ts"
import { RefundSettlement, refundsPerRun } from "../../src/workflows/payments/RefundSettlement.ts"
import { aCustomerCart, onDatabase, stockOf } from "../checkout/CheckoutFixtures.ts"
import { statementsOf } from "../pricing/Statements.ts"
import { eventually } from "../support/Eventually.ts"
import { manager } from "../support/OrderBuilder.ts"
import { aProduct } from "../support/Purchase.ts"
import { api, asAdmin, asCustomer, asStaff, at, TestApp, withSharedApp } from "../support/TestApp.ts"
import { expecting, received, type Sold, sold, step } from "./ReturnFixtures.ts"

const asManager = <A, E, R>(work: Effect.Effect<A, E, R>) =>
  Effect.flatMap(TestApp, ({ organizationId }) => Effect.provideService(work, CurrentActor, manager(organizationId)))

/** Ends the process, as far as a request can see it. */
const killed = Effect.die("killed")

const settlementDies = Effect.map(RefundSettlement, (real) => ({ ...real, settle: () => killed }))

/** The return, the refunds of its order, and what of their provider's money went back. */
const stateOf = (order: Sold, id: string) =>
  Effect.map(
    onDatabase((sql) =>
      sql`select r.status, r.replacement_order_id as replacement, o.refunded_total::int4 as refunded,
        (select count(*)::int4 from refunds f where f.order_id = o.id) as refunds,
        (select count(*)::int4 from stock_movements m where m.reference_id = ${id} and m.type = 'return') as postings
      from order_returns r join orders o on o.id = r.order_id where r.id = ${id}::uuid and o.id = ${order.id}::uuid`
    ),
    ([row]) => row
  )

const dueNow = (orderId: string) =>
  onDatabase((sql) =>
    sql`with refunds as (update refunds set next_attempt_at = now() where order_id = ${orderId}::uuid)
      update orders set capture_due_at = now() where id = ${orderId}::uuid and capture_due_at is not null`
  )

withSharedApp("the process of a return", (it) => {
  it.effect("dies before its refund is committed: nothing has changed, and a repeat refunds once", () =>
    Effect.gen(function*() {
      const order = yield* sold(2)
      const id = yield* received(order)
      const dies = Effect.map(RefundCalculationRepo, (real) => ({
        write: ((...asked) => Effect.andThen(real.write(...asked), killed)) satisfies typeof real.write
      }))
      const { refund } = yield* Effect.provideServiceEffect(ReturnRefunds.make, RefundCalculationRepo, dies)
      const died = yield* Effect.exit(asManager(refund(OrderId.make(order.id), ReturnId.make(id), {})))
      assert.isTrue(died._tag === "Failure")
      const before = { status: "received", replacement: null, refunded: 0, refunds: 0, postings: 1 }
      assert.deepStrictEqual(yield* stateOf(order, id), before)
      yield* expecting(200, step(order, id, "refund"))
      assert.deepStrictEqual(yield* stateOf(order, id), { ...before, status: "refunded", refunded: 1_000, refunds: 1 })
    }))

  it.effect("dies after its refund is committed: the refund ends by itself, once", () =>
    Effect.gen(function*() {
      const order = yield* sold(2)
      const id = yield* received(order)
      const { refund } = yield* Effect.provideServiceEffect(ReturnRefunds.make, RefundSettlement, settlementDies)
      yield* Effect.exit(asManager(refund(OrderId.make(order.id), ReturnId.make(id), {})))
      const committed = { status: "refunded", replacement: null, refunded: 0, refunds: 1, postings: 1 }
      assert.deepStrictEqual(yield* stateOf(order, id), committed)
      assert.strictEqual((yield* step(order, id, "refund")).status, 409)
      yield* dueNow(order.id)
      yield* RefundSettlement.use(({ startDue }) => startDue)
      yield* eventually("the refund", Effect.map(stateOf(order, id), (row) => row?.["refunded"] === 1_000))
      assert.deepStrictEqual(yield* stateOf(order, id), { ...committed, refunded: 1_000 })
    }))

  it.effect("dies after its refund was given outside: the order is refunded by itself", () =>
    Effect.gen(function*() {
      const order = yield* sold(1)
      const id = yield* received(order)
      const { refund } = yield* Effect.provideServiceEffect(ReturnRefunds.make, RefundSettlement, settlementDies)
      const outside = { givenOutside: { means: "Cash" } }
      yield* Effect.exit(asManager(refund(OrderId.make(order.id), ReturnId.make(id), outside)))
      const status = Effect.map(api("GET", `/api/orders/${order.id}`, { as: asStaff }), ({ at }) => at("data.status"))
      const committed = { status: "refunded", replacement: null, refunded: 1_000, refunds: 1, postings: 1 }
      assert.deepStrictEqual([yield* stateOf(order, id), yield* status], [committed, "fulfilled"])
      yield* dueNow(order.id)
      yield* RefundSettlement.use(({ startDue }) => startDue)
      yield* eventually("the status", Effect.map(status, (one) => one === "refunded"))
      assert.deepStrictEqual(yield* stateOf(order, id), committed)
      const [made] = (yield* api("GET", `/api/orders/${order.id}/refunds`, { as: asStaff })).list("data")
      const due = RefundRepo.use(({ takeDue }) => takeDue(refundsPerRun))
      const isOver = Effect.map(
        Effect.andThen(dueNow(order.id), due),
        (all) => all.every((one) => one.refundId !== at(made, "id"))
      )
      yield* eventually("the end of its settlement", isOver)
    }))

  it.effect("dies before its exchange is committed: nothing has changed, and a repeat makes one order", () =>
    Effect.gen(function*() {
      const order = yield* sold(1)
      const id = yield* received(order)
      const entityId = yield* aProduct({ price: 1_000, stock: 5 })
      const dies = Effect.map(CreateOrderRepo, (real) => ({
        ...real,
        createManual: ((...asked) =>
          Effect.andThen(real.createManual(...asked), killed)) satisfies typeof real.createManual
      }))
      const { exchange } = yield* Effect.provideServiceEffect(ReturnExchanges.make, CreateOrderRepo, dies)
      const lines = [{ entityId: EntityId.make(entityId), quantity: 1 }]
      yield* Effect.exit(asManager(exchange(OrderId.make(order.id), ReturnId.make(id), { lines })))
      const before = { status: "received", replacement: null, refunded: 0, refunds: 0, postings: 1 }
      assert.deepStrictEqual(yield* stateOf(order, id), before)
      const answer = yield* expecting(200, step(order, id, "exchange", { lines }))
      assert.deepStrictEqual(yield* stateOf(order, id), {
        status: "exchanged",
        replacement: answer.at("data.replacementOrderId"),
        refunded: 1_000,
        refunds: 1,
        postings: 1
      })
    }))

  it.effect("dies after its exchange is committed: the new order is captured and confirmed by itself", () =>
    Effect.gen(function*() {
      const order = yield* sold(1)
      const id = yield* received(order)
      const entityId = yield* aProduct({ price: 600, stock: 5 })
      const { exchange } = yield* Effect.provideServiceEffect(ReturnExchanges.make, RefundSettlement, settlementDies)
      const lines = [{ entityId: EntityId.make(entityId), quantity: 1 }]
      yield* Effect.exit(asManager(exchange(OrderId.make(order.id), ReturnId.make(id), { lines })))
      const committed = yield* stateOf(order, id)
      assert.deepInclude(committed, { status: "exchanged", refunded: 600, refunds: 2 })
      const replacement = String(committed?.["replacement"])
      const read = api("GET", `/api/orders/${replacement}`, { as: asStaff })
      assert.deepInclude((yield* read).at("data"), { status: "pending", amountCaptured: null })
      yield* dueNow(order.id)
      yield* dueNow(replacement)
      yield* RefundSettlement.use(({ startDue }) => startDue)
      yield* Captures.use(({ startDue }) => startDue)
      yield* eventually("the capture", Effect.map(read, (answer) => answer.at("data.status") === "confirmed"))
      yield* eventually("the rest", Effect.map(stateOf(order, id), (row) => row?.["refunded"] === 1_000))
      assert.deepInclude((yield* read).at("data"), { amountCaptured: 600, amountDue: 0 })
      assert.deepStrictEqual(yield* stockOf(entityId), { onHand: 5, reserved: 1 })
    }))

  it.effect("asks twice for the same part of a credit, which goes back once", () =>
    Effect.gen(function*() {
      const order = yield* sold(1)
      const id = yield* received(order)
      const lines = [{ entityId: yield* aProduct({ price: 1_000, stock: 5 }), quantity: 1 }]
      const credit = (yield* expecting(200, step(order, id, "exchange", { lines }))).text("data.refundId")
      const adapter = (yield* PaymentAdapters).byProvider("exchange")
      const asked = adapter?.refund(credit, 300, "dented", "key-of-a-refund") ?? Effect.succeed("")
      const [first, second] = yield* asManager(Effect.all([asked, asked]))
      assert.strictEqual(second, first)
      const refunds = yield* api("GET", `/api/orders/${order.id}/refunds`, { as: asStaff })
      assert.deepStrictEqual(
        refunds.list("data").map((_, place) => refunds.number(`data.${place}.amount`)).toSorted((one, other) =>
          one - other
        ),
        [300, 700]
      )
      const tooMuch = adapter?.refund(credit, 701, "dented", "another-key") ?? Effect.succeed("")
      assert.match(String(yield* Effect.flip(asManager(tooMuch))), /Only 700/)
    }))
})

let orders = 0

/** An order of one unit each of some products, handed over, by a new customer. */
const soldLines = Effect.fnUntraced(function*(products: ReadonlyArray<string>) {
  const buyer = asCustomer(`returning-lines-${++orders}`)
  const cart = yield* aCustomerCart(buyer)
  yield* Effect.forEach(
    products,
    (entityId) => api("POST", `/api/carts/${cart.id}/items`, { as: buyer, body: { entityId, quantity: 1 } })
  )
  const bought = { cartId: cart.id, paymentMethodId: "test", currency: "USD" }
  const order = yield* expecting(201, api("POST", "/api/checkout", { as: buyer, body: bought }))
  const id = OrderId.make(order.text("data.id"))
  for (const status of ["confirmed", "processing", "fulfilled"]) {
    yield* expecting(200, api("PATCH", `/api/orders/${id}/status`, { as: asAdmin, body: { status } }))
  }
  const lines = order.list("data.lineItems").map((_, at) => OrderLineId.make(order.text(`data.lineItems.${at}.id`)))
  return { id, lines: lines.map((lineItemId) => ({ lineItemId, quantity: 1 })) }
})

withSharedApp("the steps of a return", (it) => {
  it.effect("send as many statements for twelve lines as for one", () =>
    Effect.gen(function*() {
      const returns = yield* Returns
      const [settlement, captures] = yield* Effect.all([RefundSettlement, Captures])
      // What providers are asked for is the work of others, and waits for them.
      const [refunds, exchanges] = yield* Effect.all([ReturnRefunds.make, ReturnExchanges.make]).pipe(
        Effect.provideService(RefundSettlement, { ...settlement, settle: () => Effect.succeed(true) }),
        Effect.provideService(Captures, { ...captures, finish: () => Effect.undefined })
      )
      const products = yield* Effect.forEach(
        Array.from({ length: 12 }),
        () => Effect.map(aProduct({ price: 500, stock: 50 }), (id) => EntityId.make(id))
      )
      const counted = Effect.fnUntraced(function*(count: number) {
        const some = products.slice(0, count)
        const counts: Record<string, number> = {}
        const counting = <A, E, R>(name: string, work: Effect.Effect<A, E, R>) =>
          Effect.map(statementsOf(asManager(work)), ({ length }) => {
            counts[name] = length
          })
        for (const end of ["refund", "exchange"] as const) {
          const { id, lines } = yield* soldLines(some)
          yield* counting("request", returns.request(id, { lines }))
          const [row] = yield* onDatabase((sql) => sql`select id from order_returns where order_id = ${id}::uuid`)
          const returnId = ReturnId.make(String(row?.["id"]))
          yield* counting("approve", returns.approve(id, returnId, {}))
          const back = lines.map((line) => ({ ...line, disposition: "restock" as const }))
          yield* counting("receive", returns.receive(id, returnId, { lines: back }))
          const wanted = some.map((entityId) => ({ entityId, quantity: 1 }))
          yield* counting(
            end,
            end === "refund"
              ? Effect.asVoid(refunds.refund(id, returnId, {}))
              : Effect.asVoid(exchanges.exchange(id, returnId, { lines: wanted }))
          )
        }
        return counts
      })
      yield* counted(1)
      const one = yield* counted(1)
      assert.deepStrictEqual(yield* counted(12), one)
      assert.containsAllKeys(one, ["request", "approve", "receive", "refund", "exchange"])
      assert.isAbove(Math.min(...Object.values(one)), 2)
    }))
})
