import { assert, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { randomOf } from "../../../../test/fuzz/Values.ts"
import { onDatabase } from "../../../../test/support/Audit.ts"
import { aCartWith, checkOut } from "../../../../test/support/Purchase.ts"
import { persistently } from "../../../../test/support/ServiceCalls.ts"
import { at } from "../../../../test/support/TestApp.ts"
import { aRestaurant, ask, attempt, type Restaurant, restaurantPlace } from "./RestaurantPlace.ts"

const upTo = (count: number) => Array.from({ length: count }, (_, n) => n)
const unbounded = { concurrency: "unbounded" } as const

/** A paid sale of one dish that waits to be completed. */
const paidSale = Effect.fnUntraced(function*({ entityId, till }: Restaurant, n: number) {
  const started = yield* ask("POST", "/pos/transactions", till, `start-${n}`)
  const path = `/pos/transactions/${started.text("data.id")}`
  yield* ask("POST", `${path}/items`, { entityId }, `item-${n}`)
  yield* ask("POST", `${path}/payments`, { method: "cash", amount: 1_000 }, `pay-${n}`)
  return path
})

it.live(
  "the last three dishes are sold to three of thirty buyers at till and web, while the process dies twice",
  () =>
    Effect.gen(function*() {
      const { inside, place, url } = yield* restaurantPlace
      yield* Effect.gen(function*() {
        const { entityId, till } = yield* aRestaurant()
        const sales = yield* Effect.forEach(upTo(15), (n) => paidSale({ entityId, till }, n))
        const carts = yield* Effect.forEach(upTo(15), () => aCartWith(entityId))
        yield* ask("PUT", `/pos/restaurant/menu/${entityId}`, { isAvailable: true, remaining: 3 })
        const atTill = Effect.forEach(sales, (path) => attempt("POST", `${path}/complete`, {}, path), unbounded)
        const online = Effect.forEach(
          carts,
          (cart) => persistently(checkOut(cart, {}, { "idempotency-key": cart.id })),
          unbounded
        )
        const buying = yield* Effect.forkChild(Effect.all([atTill, online], unbounded))
        yield* place.strike
        yield* place.strike
        const answers = (yield* Fiber.join(buying)).flat()
        assert.deepStrictEqual([201, 422].map((code) => answers.filter(({ status }) => status === code).length), [
          3,
          27
        ])
        const menu = yield* ask("GET", `/pos/restaurant/menu?entityId=${entityId}`)
        assert.deepInclude(menu.at("data.0"), { isAvailable: false, remaining: 0 })
        const [sold] = yield* onDatabase(
          url,
          (sql) =>
            sql`select (select count(*)::int from order_lines where entity_id = ${entityId}) as lines,
            (select sum(on_hand - reserved)::int from stock_levels where entity_id = ${entityId}) as left`
        )
        assert.deepStrictEqual(sold, { lines: 3, left: 97 })
      }).pipe(inside)
    }),
  240_000
)

it.live(
  "four waiters at one table leave the kitchen what is ordered, while the process dies twice",
  () =>
    Effect.gen(function*() {
      const { inside, place, url } = yield* restaurantPlace
      yield* Effect.gen(function*() {
        const { entityId, till } = yield* aRestaurant()
        const id = (yield* ask("POST", "/pos/transactions", till, "sale")).text("data.id")
        const path = `/pos/transactions/${id}`
        const first = yield* Effect.forEach(upTo(3), (n) =>
          Effect.map(ask("POST", `${path}/items`, { entityId, quantity: 6, seat: n }, `l-${n}`), (line) =>
            line.text("data.id")))
        const fire = attempt("POST", "/pos/restaurant/kds/tickets/fire", { transactionId: id })
        const waiter = Effect.fnUntraced(function*(nth: number) {
          const random = randomOf(nth + 1)
          for (let turn = 0; turn < 6; turn++) {
            const line = `${path}/items/${random.oneOf(first)}`
            const kind = random.int(10)
            if (kind < 4) {
              yield* fire
            } else if (kind < 8) {
              yield* attempt("PATCH", line, { quantity: 3 + random.int(8), reason: "x" })
            } else if (kind < 9) {
              yield* attempt("DELETE", `${line}?reason=x`)
            } else yield* attempt("POST", `${path}/items`, { entityId, seat: 9 }, `more-${nth}-${turn}`)
          }
        })
        const serving = yield* Effect.forkChild(Effect.forEach(upTo(4), waiter, unbounded))
        yield* place.strike
        yield* place.strike
        yield* Fiber.join(serving)
        yield* fire
        const lines = (yield* ask("GET", path)).list("data.items")
        const ordered = Object.fromEntries(lines.map((line) => [String(at(line, "id")), at(line, "quantity")]))
        const cooked = yield* onDatabase(url, (sql) =>
          sql`select line_id::text as line,
            sum(quantity - cancelled_quantity)::int as units from kds_ticket_items where entity_id = ${entityId}
            group by line_id having sum(quantity - cancelled_quantity) <> 0`)
        assert.deepStrictEqual(Object.fromEntries(cooked.map(({ line, units }) => [String(line), units])), ordered)
      }).pipe(inside)
    }),
  240_000
)
