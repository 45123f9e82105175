import { assert, it as plain } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, systemActor } from "../../src/domain/access/Actor.ts"
import { newId } from "../../src/domain/ids/Id.ts"
import { OrderRecordsRepo, orderRecordsRepoLayer } from "../../src/domain/orders/OrderRecordsRepo.ts"
import { elsewhere, holding, onDatabase, openElsewhere, refused } from "../checkout/CheckoutFixtures.ts"
import { plansOf } from "../pricing/Statements.ts"
import { inBulk } from "../support/InBulk.ts"
import { buildOrder, type OrderSpec } from "../support/OrderBuilder.ts"
import { TestDatabase } from "../support/Postgres.ts"
import { api, asAdmin, asCustomer, asStaff, at, withSharedApp } from "../support/TestApp.ts"

const lookUp = (text: string, as: typeof asAdmin = asStaff) =>
  api("GET", `/api/orders/lookup?q=${encodeURIComponent(text)}`, { as })

/** Numbers of the orders that a text finds, in their order. */
const found = (text: string, as: typeof asAdmin = asStaff) =>
  Effect.map(lookUp(text, as), (answer) => answer.list("data").map((hit) => at(hit, "orderNumber")))

const given = (spec: OrderSpec) =>
  onDatabase((sql) => Effect.orDie(Effect.provideService(buildOrder(spec), SqlClient.SqlClient, sql)))

const aCustomer = (body: object) =>
  Effect.map(api("POST", "/api/customers", { as: asAdmin, body }), (made) => made.text("data.id"))

const leaveEmail = (id: string, email: string) =>
  onDatabase((sql) => sql`update orders set email = ${email} where id = ${id}::uuid`)

withSharedApp("looking orders up at the desk", (it) => {
  it.effect("finds them by number in any case, and by the digits of its end in every year that was counted", () =>
    Effect.gen(function*() {
      yield* given({ orderNumber: "ORD-2024-000712", placedAt: new Date("2024-03-01") })
      yield* given({ orderNumber: "ORD-2025-000712", placedAt: new Date("2025-03-01") })
      yield* given({ orderNumber: "ORD-2025-712712" })
      yield* onDatabase((sql, organizationId) =>
        sql`insert into order_counters (organization_id, year, last_number)
          values (${organizationId}, 2024, 712), (${organizationId}, 2025, 712) on conflict do nothing`
      )
      assert.deepStrictEqual(yield* found("ord-2024-000712"), ["ORD-2024-000712"])
      for (const digits of ["712", "000712", " 712 "]) {
        assert.deepStrictEqual(yield* found(digits), ["ORD-2025-000712", "ORD-2024-000712"], digits)
      }
      assert.deepStrictEqual(yield* found("713"), [])
    }))

  it.effect("finds them by the beginning of an address or a name in any case, newest first, and says whose they are", () =>
    Effect.gen(function*() {
      const customerId = yield* aCustomer({ firstName: "Zoë", lastName: "Quist", email: "Zoe.Q@Example.com" })
      const first = yield* given({ customerId, orderNumber: "ORD-2021-000001", placedAt: new Date("2021-01-01") })
      yield* given({ customerId, orderNumber: "ORD-2021-000002", placedAt: new Date("2021-01-02") })
      const guest = yield* given({ orderNumber: "ORD-2021-000003", placedAt: new Date("2021-01-03") })
      yield* leaveEmail(guest.id, "zoe.guest@example.com")
      const both = ["ORD-2021-000002", "ORD-2021-000001"]
      for (const text of ["zoë qu", "QUIST", "zoe.q@exa"]) assert.deepStrictEqual(yield* found(text), both, text)
      assert.deepStrictEqual(yield* found("zoe."), ["ORD-2021-000003", ...both])
      for (const text of ["uist", "oe.q", "%oe", "zo_", "Quist Zoë"]) {
        assert.deepStrictEqual(yield* found(text), [], text)
      }
      assert.deepStrictEqual((yield* lookUp("quist")).at("data.1"), {
        id: first.id,
        orderNumber: "ORD-2021-000001",
        status: "pending",
        currency: "USD",
        grandTotal: 1_000,
        customerId,
        customerName: "Zoë Quist",
        email: "Zoe.Q@Example.com",
        placedAt: "2021-01-01T00:00:00.000Z"
      })
    }))

  it.effect("gives the 50 newest of many, and needs three characters, the permission and the store", () =>
    Effect.gen(function*() {
      const customerId = yield* aCustomer({ lastName: "Manyorders" })
      for (let day = 1; day <= 52; day++) {
        yield* given({ customerId, orderNumber: `ORD-2019-${100 + day}`, placedAt: new Date(2019, 0, day) })
      }
      const numbers = yield* found("manyord")
      assert.deepStrictEqual([numbers.length, numbers[0], numbers[49]], [50, "ORD-2019-152", "ORD-2019-103"])
      for (const short of ["", "ab", "  a  "]) refused(yield* lookUp(short), 422, "VALIDATION_FAILED", short)
      refused(yield* lookUp("manyord", asCustomer("u1")), 403, "FORBIDDEN")
      refused(yield* lookUp("manyord", holding("orders:update")), 403, "FORBIDDEN")
      yield* openElsewhere
      assert.deepStrictEqual(yield* found("manyord", elsewhere), [])
      assert.deepStrictEqual(yield* found("ord-2019-152", elsewhere), [])
    }))
})

/** Two stores with 20,000 orders each, half of them of 5,000 customers, half of guests. */
const seedMany = inBulk(Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`insert into organizations (id, slug, name) select 'many-' || n, 'many-' || n, 'Many' from generate_series(1, 2) n`
  yield* sql`insert into customers (id, organization_id, email, first_name, last_name)
    select gen_random_uuid(), o.id, 'person' || n || '@example.com', 'First' || n, 'Last' || n
    from organizations o, generate_series(1, 5000) n`
  yield* sql`insert into order_counters (organization_id, year, last_number)
    select id, year, 10000 from organizations, generate_series(2020, 2021) year`
  yield* sql`with people as (select id, organization_id, row_number() over (partition by organization_id) as n from customers)
    insert into orders (id, organization_id, order_number, customer_id, status, currency, subtotal, tax_total,
      shipping_total, discount_total, grand_total, email, placed_at)
    select gen_random_uuid(), o.id, 'ORD-' || (2020 + g % 2) || '-' || lpad((g / 2)::text, 6, '0'), p.id, 'pending', 'USD',
      1, 0, 0, 0, 1, case when p.id is null then 'guest' || g || '@example.com' end, now() - g * interval '1 minute'
    from organizations o cross join generate_series(1, 20000) g
    left join people p on p.organization_id = o.id and p.n = g / 2`
  yield* sql`analyze`
}))

plain.layer(Layer.provideMerge(orderRecordsRepoLayer, TestDatabase), { excludeTestServices: true })(
  "a look-up among 40,000 orders",
  (it) => {
    it.effect("goes over indexes alone, in one statement, whatever is asked for", () =>
      Effect.gen(function*() {
        yield* seedMany
        const repo = yield* OrderRecordsRepo
        const words = [
          { number: "ORD-2020-000123", digits: null, beginning: "ord-2020-000123" },
          { number: "123", digits: "000123", beginning: "123" },
          { number: "LAST4", digits: null, beginning: "last4" },
          { number: newId(), digits: null, beginning: "guest12345@" }
        ]
        for (const asked of words) {
          const find = Effect.provideService(repo.lookup(asked), CurrentActor, systemActor("many-1"))
          assert.isNotEmpty(yield* find)
          const plans = yield* plansOf(find)
          assert.strictEqual(plans.length, 1)
          for (const plan of plans) assert.notMatch(plan, /Seq Scan on (orders|customers)/)
        }
      }))
  }
)
