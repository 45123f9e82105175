import { assert, layer } from "@effect/vitest"
import { Effect, Exit, Struct } from "effect"
import type { SqlClient } from "effect/sql"
import { CheckoutExtensions } from "../../src/domain/checkout/CheckoutExtension.ts"
import { CreateOrderRepo } from "../../src/domain/checkout/CreateOrderRepo.ts"
import { OrderStatusRepo } from "../../src/domain/orders/OrderStatusRepo.ts"
import { CurrentActor, systemActor } from "../../src/domain/platform/access/Actor.ts"
import { newId, OrderId, type PaymentId } from "../../src/domain/platform/ids/Id.ts"
import { LateCapture } from "../../src/workflows/checkout/Captures.ts"
import { UnpaidOrders } from "../../src/workflows/payments/UnpaidOrders.ts"
import { onDatabase, stockOf } from "../checkout/CheckoutFixtures.ts"
import { inOneMoment } from "../orders/OrderFixtures.ts"
import { eventually } from "../support/Eventually.ts"
import { type Answer, live, type TestApp } from "../support/TestApp.ts"
import { anOpenOrder, cancel, deaths, event, gate, type OpenOrder, pay, provider, read, store } from "./OpenOrders.ts"

layer(store, live)("several changes at once of an order that waits for its shopper", (it) => {
  /** What may happen to an order that waits for its shopper, each with what the bank does then. */
  const happenings = {
    webhook: (order: OpenOrder) =>
      Effect.suspend(() => {
        const payment = provider.paymentOf(order.token)
        // No bank lets a shopper confirm what was voided.
        if (payment?.status === "requires_action") payment.status = "requires_capture"
        return event(order.id, payment?.id, "amount_capturable_updated")
      }),
    failure: (order: OpenOrder) =>
      Effect.suspend(() => event(order.id, provider.paymentOf(order.token)?.id, "payment_failed")),
    "second means": (order: OpenOrder) => pay(order, `ok_${order.token}`),
    "second means that asks": (order: OpenOrder) => pay(order, `asks_other_${order.token}`),
    "second means that is declined": (order: OpenOrder) => pay(order, `declined_${order.token}`),
    "second means that cannot be captured": (order: OpenOrder) => pay(order, `broke_${order.token}`),
    cancel,
    expiry: ({ id }: OpenOrder) =>
      Effect.gen(function*() {
        yield* onDatabase((sql) =>
          sql`update orders set payment_due_at = now() - interval '1 second' where id = ${id}::uuid
            and payment_due_at is not null`
        )
        yield* (yield* UnpaidOrders).cancelUnconfirmed
      })
  }
  const names = Struct.keys(happenings)
  const pairs = names.flatMap((one, n) => names.slice(n).map((other) => [one, other] as const))

  const kept = (order: OpenOrder) =>
    ["", "ok_", "asks_other_", "broke_"].map((kind) => provider.paymentOf(`${kind}${order.token}`))

  /** Paid once and in full, or cancelled with nothing kept and nothing open. */
  const hasEnded = (order: OpenOrder) =>
    Effect.gen(function*() {
      const [row] = yield* onDatabase((sql) =>
        sql<
          { status: string; captured: number | null; due: number; open: number }
        >`select o.status, o.amount_captured::float8 as captured, (o.payment_claim_id is not null)::int as due,
            (select count(*)::int from refunds r where r.order_id = o.id and r.status <> 'completed') as open
          from orders o where o.id = ${order.id}::uuid`
      )
      const payments = kept(order).filter((one) => one !== undefined)
      const sum = payments.reduce((all, { captured, refunded }) => all + captured - refunded, 0)
      const open = payments.filter(({ status }) => status === "requires_action" || status === "requires_capture").length
      const { reserved } = yield* stockOf(order.entityId)
      if (row === undefined || row.open > 0 || row.due > 0 || open > 0) return undefined
      if (row.status === "cancelled") return sum === 0 && reserved === 0 ? "cancelled" : undefined
      return row.captured === 1_000 && sum === 1_000 && reserved === 1 ? "paid" : undefined
    })

  const assertEnds = Effect.fnUntraced(
    function*(
      names: string,
      order: OpenOrder,
      all: ReadonlyArray<Effect.Effect<unknown, never, TestApp | UnpaidOrders>>
    ) {
      yield* Effect.all(all, { concurrency: "unbounded" })
      // What still waits for its shopper expires.
      yield* eventually(`${names} to end`, Effect.andThen(happenings.expiry(order), hasEnded(order)))
    }
  )

  it.effect(
    "end it paid once or cancelled with nothing kept, for every pair of what may happen at once",
    () =>
      Effect.forEach(
        pairs,
        ([one, other]) =>
          Effect.flatMap(anOpenOrder, (order) =>
            assertEnds(`${one} and ${other}`, order, [happenings[one](order), happenings[other](order)])),
        {
          concurrency: 4,
          discard: true
        }
      )
  )

  const points = ["claimed", "undone", "authorized", "created"] as const
  const killed = points.flatMap((point) => names.map((name) => [point, name] as const))

  it.effect(
    "end so too when the run of another means dies at any of its steps",
    () =>
      Effect.forEach(killed, ([point, name]) =>
        Effect.gen(function*() {
          const order = yield* anOpenOrder
          deaths.set(order.token, point)
          const dies = pay(order, `ok_${order.token}`, { "x-request-id": order.token })
          yield* assertEnds(`${name} beside a death when ${point}`, order, [dies, happenings[name](order)])
        }), { concurrency: 4, discard: true })
  )

  it.effect("end so too when the capture of another means dies at any of its steps", () =>
    Effect.forEach(
      [["captured", "ok_"], ["settled", "ok_"], ["undone", "broke_"]] as const,
      ([point, kind]) =>
        Effect.gen(function*() {
          const order = yield* anOpenOrder
          // A capture has no request.
          deaths.set("", point)
          yield* pay(order, `${kind}${order.token}`)
          const outcome = yield* eventually("the capture to end", hasEnded(order))
          assert.deepStrictEqual([outcome, deaths.has("")], [kind === "ok_" ? "paid" : "cancelled", false])
        }),
      { discard: true }
    ))

  it.effect("inform no plugin of a failure when the payment that fails is being replaced", () =>
    Effect.gen(function*() {
      const informed: Array<string> = []
      const failed = ({ checkoutId }: { readonly checkoutId: string }) =>
        Effect.sync(() => void informed.push(checkoutId))
      yield* CheckoutExtensions.use((all) =>
        all.register("watcher", { decide: () => Effect.succeed(undefined), failed })
      )
      const failing = Effect.fnUntraced(
        function*(meanwhile: (order: OpenOrder) => Effect.Effect<unknown, never, TestApp>) {
          const order = yield* anOpenOrder
          const { open } = yield* gate(order.token, "capture")
          yield* happenings.webhook(order)
          yield* eventually("the capture", Effect.sync(() => provider.callsOf(order.token, "capture") > 0))
          yield* meanwhile(order)
          yield* open
          const capture = { orderId: OrderId.make(order.id), organizationId: "org_default", paymentId: null }
          assert.strictEqual(yield* LateCapture.execute(capture), "cancelled")
          return order.id
        }
      )
      const cancelOutside = ({ token }: OpenOrder) =>
        Effect.sync(() => void Object.assign(provider.paymentOf(token) ?? {}, { status: "canceled" }))
      const ended = yield* failing(cancelOutside)
      const replaced = yield* failing((order) => pay(order, `ok_${order.token}`))
      assert.deepStrictEqual([informed.includes(ended), informed.includes(replaced)], [true, false])
    }))

  const atThatMoment = (order: OpenOrder, assignment: string, change: Effect.Effect<Answer, never, TestApp>) =>
    Effect.gen(function*() {
      const set = (sql: SqlClient.SqlClient) =>
        sql`update orders set ${sql.literal(assignment)} where id = ${order.id}::uuid`
      const [answer] = yield* inOneMoment(set, [change])
      return [answer?.status, (yield* read(order)).at("data.status")]
    })

  it.effect("leave an order that is paid in the moment of its holder's cancellation", () =>
    Effect.gen(function*() {
      const order = yield* anOpenOrder
      assert.deepStrictEqual(yield* atThatMoment(order, "amount_captured = 1000", cancel(order)), [409, "pending"])
    }))

  it.effect("leave an order that is claimed in the moment of an event of the payment before it", () =>
    Effect.gen(function*() {
      const order = yield* anOpenOrder
      const claim = "payment_claim_id = gen_random_uuid()"
      assert.deepStrictEqual(yield* atThatMoment(order, claim, happenings.failure(order)), [200, "pending"])
    }))

  it.effect("capture nothing for a payment that was replaced before its capture began", () =>
    Effect.gen(function*() {
      const [order, token] = [yield* anOpenOrder, "asks_replacing"]
      yield* pay(order, token)
      provider.confirm(token)
      const capture = { orderId: OrderId.make(order.id), organizationId: "org_default", paymentId: null }
      assert.strictEqual(yield* LateCapture.execute(capture), "nothing-to-capture")
      assert.deepInclude(provider.paymentOf(token), { status: "requires_capture", captured: 0 })
    }))

  it.effect("settle and cancel nothing by the payment before the order's", () =>
    Effect.gen(function*() {
      const order = yield* anOpenOrder
      const id = OrderId.make(order.id)
      const payment = newId<PaymentId>()
      const system = Effect.provideService(CurrentActor, systemActor("org_default"))
      const settle = CreateOrderRepo.use((repo) => repo.settle(id, "pay", { total: 1_000, parts: [] }, null)).pipe(
        system
      )
      const change = { orderId: id, from: "pending", to: "cancelled", reason: null, payment: { id: null } } as const
      const end = Effect.exit(OrderStatusRepo.use((repo) => repo.transition(change)).pipe(system))
      const set = (column: string, value: string | null) =>
        onDatabase((sql) => sql`update orders set ${sql(column)} = ${value}::uuid where id = ${order.id}::uuid`)
      for (const column of ["payment_claim_id", "payment_id"]) {
        yield* set(column, payment)
        assert.isUndefined(yield* settle)
        assert.isTrue(Exit.isFailure(yield* end))
        yield* set(column, null)
      }
      assert.isDefined(yield* settle)
    }))
})
