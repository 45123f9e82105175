import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { elsewhere, onDatabase, openElsewhere, refused } from "../checkout/CheckoutFixtures.ts"
import { orderInApp as given } from "../support/OrderBuilder.ts"
import { api, asAdmin, asStaff, at, withSharedApp } from "../support/TestApp.ts"

const lookUp = (text: string, as: typeof asAdmin = asStaff) =>
  api("GET", `/api/orders/lookup?q=${encodeURIComponent(text)}`, { as })

/** Numbers of the orders that a text finds, in their order. */
const found = (text: string, as: typeof asAdmin = asStaff) =>
  Effect.map(lookUp(text, as), (answer) => answer.list("data").map((hit) => at(hit, "orderNumber")))

const aCustomer = (body: object) =>
  Effect.map(api("POST", "/api/customers", { as: asAdmin, body }), (made) => made.text("data.id"))

const leaveEmail = (id: string, email: string) =>
  onDatabase((sql) => sql`update orders set email = ${email} where id = ${id}::uuid`)

withSharedApp("the look-up of orders by staff", (it) => {
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
        email: "Zoe.Q@example.com",
        placedAt: "2021-01-01T00:00:00.000Z"
      })
    }))

  it.effect("gives the 50 newest of many, of the store alone, and needs three characters", () =>
    Effect.gen(function*() {
      const customerId = yield* aCustomer({ lastName: "Manyorders" })
      for (let day = 1; day <= 52; day++) {
        yield* given({ customerId, orderNumber: `ORD-2019-${100 + day}`, placedAt: new Date(2019, 0, day) })
      }
      const numbers = yield* found("manyord")
      assert.deepStrictEqual([numbers.length, numbers[0], numbers[49]], [50, "ORD-2019-152", "ORD-2019-103"])
      for (const short of ["", "ab", "  a  "]) refused(yield* lookUp(short), 422, "VALIDATION_FAILED", short)
      yield* openElsewhere
      assert.deepStrictEqual(yield* found("manyord", elsewhere), [])
      assert.deepStrictEqual(yield* found("ord-2019-152", elsewhere), [])
    }))
})
