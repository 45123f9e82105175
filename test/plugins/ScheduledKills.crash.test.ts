import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { fileURLToPath } from "node:url"
import { audit, onDatabase } from "../support/Audit.ts"
import { eventually } from "../support/Eventually.ts"
import { killDuring, makeGates } from "../support/KillAt.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { aCartWith, aProduct } from "../support/Purchase.ts"
import { placeOf, talkingTo } from "../support/Service.ts"
import { persistently } from "../support/ServiceCalls.ts"
import { api, asAdmin, type TestApp } from "../support/TestApp.ts"

const program = fileURLToPath(new URL("../support/serveCustomers.ts", import.meta.url))

/** The commits of a scheduled order on its way to an order. */
const update = "update on scheduled_orders"
const steps = [
  { name: "released", change: update, when: "new.status = 'processing' and old.status = 'scheduled'" },
  { name: "filled", change: update, when: "new.checkout_cart_id is not null and old.checkout_cart_id is null" },
  { name: "ordered", change: "insert on orders" },
  {
    name: "captured",
    change: "update on orders",
    when: "new.amount_captured is not null and old.amount_captured is null"
  },
  { name: "completed", change: update, when: "new.status = 'completed'" }
]
const deaths = steps.flatMap(({ name }) => (["lost", "carried out"] as const).map((fate) => ({ step: name, fate })))

it.live(
  "a scheduled order whose process is killed at any of its steps is ordered once, and repeats once",
  () =>
    Effect.scoped(Effect.gen(function*() {
      const { url } = yield* freshDatabase
      const { replace, service } = yield* placeOf({ databaseUrl: url, program })
      yield* makeGates(url, steps)
      const inShop = <A>(work: Effect.Effect<A, never, TestApp>) =>
        Effect.suspend(() => Effect.provide(work, talkingTo(service(), url)))
      const customer = yield* inShop(api("POST", "/api/customers", { as: asAdmin, body: { email: "ann@example.com" } }))
      const product = yield* inShop(aProduct({ stock: 100 }))
      const due = { as: asAdmin, body: { bufferMinutes: 61 } }
      const release = Effect.suspend(() => inShop(api("POST", "/api/scheduled-orders/process-due", due)))
      for (const [before, { fate, step }] of deaths.entries()) {
        const { id: cartId } = yield* inShop(aCartWith(product))
        const body = {
          cartId,
          customerId: customer.text("data.id"),
          scheduledFor: new Date(Date.now() + 3_600_000).toISOString(),
          paymentMethodId: "test",
          everyDays: 7
        }
        const made = yield* inShop(api("POST", "/api/scheduled-orders", { as: asAdmin, body }))
        assert.strictEqual(made.status, 201, JSON.stringify(made.body))
        yield* killDuring(step, service(), url, release, fate)
        yield* replace
        yield* persistently(release)
        const now = onDatabase(url, (sql) =>
          sql`select
          array(select status from scheduled_orders where cart_id = ${cartId}::uuid order by created_at, id) as rows,
          (select count(*)::int4 from orders o join scheduled_orders s on s.id::text = o.metadata->>'scheduledOrderId'
            where s.cart_id = ${cartId}::uuid and o.id = s.order_id) as orders,
          (select count(*)::int4 from orders) as all`)
        const isDone = Effect.map(now, ([row]) => String(row?.["rows"]).startsWith("completed"))
        yield* eventually(`the order after ${step} was ${fate}`, isDone, 120_000)
        const expected = { rows: ["completed", "scheduled"], orders: 1, all: before + 1 }
        assert.deepStrictEqual(yield* now, [expected], `${step} ${fate}`)
      }
      yield* audit(url)
    })),
  600_000
)
