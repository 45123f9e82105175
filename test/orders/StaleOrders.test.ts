import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { Hook } from "../../src/domain/platform/hooks/Hook.ts"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { eventually } from "../support/Eventually.ts"
import { orderInApp, type OrderSpec, stockInApp } from "../support/OrderBuilder.ts"
import { at, live, testAppLayer } from "../support/TestApp.ts"
import { inOneMoment } from "./OrderFixtures.ts"

/** Orders that a hook of the deployment does not let go. */
const kept = new Set<unknown>()

const hook: Hook = {
  key: "orders.beforeStatusChange",
  before: ({ data }) => kept.has(at(data, "orderId")) ? Effect.die(new Error("not this one")) : Effect.succeed(data)
}

const withShop = layer(testAppLayer({ hooks: [hook], orders: { staleHours: 48 } }), live)

const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000)

/** An unpaid order of two days and an hour ago; what differs is said. */
const aStaleOrder = (spec: OrderSpec = {}) => orderInApp({ captured: null, placedAt: hoursAgo(49), ...spec })

/** Runs the task as its next tick would, and gives how many orders it says to have cancelled. */
const cleanUp = Effect.gen(function*() {
  const id = newId()
  yield* onDatabase((sql) =>
    sql`insert into commerce_jobs (id, organization_id, task_slug)
      values (${id}::uuid, 'org_default', 'orders/stale-cleanup')`
  )
  const job = onDatabase((sql) =>
    sql<{ status: string; n: number }>`select status, (output->>'cancelledCount')::int as n from commerce_jobs
      where id = ${id}::uuid and status in ('succeeded', 'failed')`
  )
  const done = yield* eventually("the clean-up", Effect.map(job, ([row]) => row))
  assert.strictEqual(done.status, "succeeded")
  return done.n
})

const statusOf = (id: string) =>
  Effect.map(
    onDatabase((sql) => sql<{ status: string }>`select status from orders where id = ${id}::uuid`),
    ([row]) => row?.status
  )

withShop("orders that were unpaid for two days", (it) => {
  it.effect("are cancelled, of every store, with their stock and their authorization", () =>
    Effect.gen(function*() {
      const stale = yield* aStaleOrder({ onHand: 5 })
      yield* onDatabase((sql) => sql`insert into organizations (id, slug, name) values ('org_stale', 'stale', 'Stale')`)
      const elsewhere = yield* aStaleOrder({ organizationId: "org_stale" })
      assert.strictEqual(yield* cleanUp, 2)
      assert.deepStrictEqual([yield* statusOf(stale.id), yield* statusOf(elsewhere.id)], ["cancelled", "cancelled"])
      assert.deepInclude(yield* stockInApp(stale), { onHand: 5, reserved: 0 })
      const voided = onDatabase((sql) =>
        sql`select 1 from refunds where order_id = ${stale.id}::uuid and amount = 0 and status = 'completed'`
      )
      yield* eventually("the void", Effect.map(voided, ({ length }) => length === 1))
      const recorded = yield* onDatabase((sql) =>
        sql`select reason, changed_by from order_status_history where order_id = ${stale.id}::uuid`
      )
      assert.deepStrictEqual(recorded, [{ reason: "not_paid", changed_by: "system:internal" }])
      assert.strictEqual(yield* cleanUp, 0)
    }))

  it.effect("stay when they are younger, paid, confirmed, drafts, imported, or have a separate deadline", () =>
    Effect.gen(function*() {
      const specs: ReadonlyArray<OrderSpec> = [{ placedAt: hoursAgo(47) }, { captured: 1_000 }, { status: "confirmed" }]
      const others = yield* Effect.forEach(specs, aStaleOrder)
      const sets = ["is_draft = true", "payment_due_at = now() + interval '1 hour'", "imported_at = now()"]
      for (const set of sets) {
        const order = yield* aStaleOrder()
        others.push(order)
        yield* onDatabase((sql) => sql`update orders set ${sql.literal(set)} where id = ${order.id}::uuid`)
      }
      assert.strictEqual(yield* cleanUp, 0)
      const statuses = yield* Effect.forEach(others, ({ id }) => statusOf(id))
      assert.deepStrictEqual(statuses, ["pending", "pending", "confirmed", "pending", "pending", "pending"])
    }))

  it.effect("stay when they are paid in the moment of their end", () =>
    Effect.gen(function*() {
      const order = yield* aStaleOrder()
      const [cancelled] = yield* inOneMoment(
        (sql) => sql`update orders set amount_captured = grand_total where id = ${order.id}::uuid`,
        [cleanUp]
      )
      assert.strictEqual(cancelled, 0)
      assert.strictEqual(yield* statusOf(order.id), "pending")
    }))

  it.effect(
    "are all cancelled in one run, and one that a hook keeps does not hold up the others",
    () =>
      Effect.gen(function*() {
        const keeper = yield* aStaleOrder()
        kept.add(keeper.id)
        const many = yield* Effect.replicateEffect(aStaleOrder({ placedAt: hoursAgo(60) }), 104)
        assert.strictEqual(yield* cleanUp, 104)
        assert.deepStrictEqual(yield* statusOf(many.at(-1)?.id ?? ""), "cancelled")
        assert.strictEqual(yield* statusOf(keeper.id), "pending")
      })
  )
})

layer(testAppLayer({ orders: { staleHours: 0 } }), live)(
  "a deployment that keeps unpaid orders",
  (it) => {
    it.effect("cancels none", () =>
      Effect.gen(function*() {
        const old = yield* aStaleOrder({ placedAt: hoursAgo(10_000) })
        assert.strictEqual(yield* cleanUp, 0)
        assert.strictEqual(yield* statusOf(old.id), "pending")
      }))
  }
)
