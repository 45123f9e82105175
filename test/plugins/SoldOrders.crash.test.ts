import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { fileURLToPath } from "node:url"
import { onDatabase, stockOf } from "../checkout/CheckoutFixtures.ts"
import { audit } from "../support/Audit.ts"
import { eventually } from "../support/Eventually.ts"
import { killAt } from "../support/KillAt.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { aProduct, aWarehouse } from "../support/Purchase.ts"
import { restart, startService, talkingTo } from "../support/Service.ts"
import { persistently } from "../support/ServiceCalls.ts"
import { api, asAdmin } from "../support/TestApp.ts"

const program = fileURLToPath(new URL("../support/serveTill.ts", import.meta.url))

/** What there is of orders, and what learned of them after their commit. */
const written = onDatabase((sql) =>
  sql`select (select count(*)::int4 from orders) as orders, (select count(*)::int4 from register_sales) as sales,
    (select count(*)::int4 from stock_movements where type = 'sale') as movements,
    (select coalesce(array_agg(captured::int4 order by position), '{}') from order_tenders) as tenders,
    (select coalesce(array_agg(source order by source), '{}') from register_slips) as slips`
)
const nothing = { orders: 0, sales: 0, movements: 0, tenders: [] }
const all = { orders: 1, sales: 1, movements: 1, tenders: [500, 1_500] }

it.live.each([
  { table: "holds", left: nothing, slips: ["event", "hook"] },
  { table: "stock_movements", left: nothing, slips: ["event", "hook"] },
  { table: "order_tenders", left: nothing, slips: ["event", "hook"] },
  { table: "register_sales", left: nothing, slips: ["event", "hook"] },
  // Right after its commit: its hook is lost, and the event is not.
  { table: "register_slips", left: all, slips: ["event"] }
])(
  "a sale whose process is killed before it writes to $table is made once when it is sent again",
  ({ left, slips, table }) =>
    Effect.scoped(Effect.gen(function*() {
      const { url } = yield* freshDatabase
      const options = { databaseUrl: url, program }
      const doomed = yield* startService(options)
      const { entityId, sell } = yield* Effect.gen(function*() {
        const entityId = yield* aProduct({ price: 1_000, stock: 5 })
        const sale = { id: "killed", warehouseId: yield* aWarehouse(), lines: [{ entityId, quantity: 2 }] }
        const body = { ...sale, cash: 1_500, card: 500 }
        return { entityId, sell: api("POST", "/api/register/sales", { as: asAdmin, body }) }
      }).pipe(Effect.provide(talkingTo(doomed, url)))
      yield* killAt(table, doomed, url, Effect.provide(sell, talkingTo(doomed, url)))
      const service = yield* restart(doomed, options)
      yield* Effect.gen(function*() {
        assert.deepInclude((yield* written)[0], left)
        const answers = yield* Effect.all([1, 2, 3].map(() => persistently(sell)), { concurrency: 2 })
        assert.deepStrictEqual(answers.map(({ status }) => status), [201, 201, 201])
        assert.strictEqual(new Set(answers.map((answer) => answer.text("data.id"))).size, 1)
        yield* eventually(
          "the event to be handled",
          Effect.map(written, ([now]) => String(now?.["slips"]) === String(slips))
        )
        assert.deepStrictEqual(yield* written, [{ ...all, slips }])
        assert.deepStrictEqual(yield* stockOf(entityId), { onHand: 3, reserved: 0 })
      }).pipe(Effect.provide(talkingTo(service, url)))
      yield* audit(url)
    }))
)
