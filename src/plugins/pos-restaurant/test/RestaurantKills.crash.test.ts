import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { onDatabase } from "../../../../test/support/Audit.ts"
import { eventually } from "../../../../test/support/Eventually.ts"
import { aRestaurant, ask, type Restaurant, restaurantPlace } from "./RestaurantPlace.ts"

/** Guests at a table, of whose two dishes one was fired. */
const seated = Effect.fnUntraced(function*({ entityId, till }: Restaurant, n: number) {
  const table = yield* ask("POST", "/pos/restaurant/tables", { number: `T${n}`, zone: "Hall" }, `table-${n}`)
  const started = yield* ask("POST", "/pos/transactions", till, `start-${n}`)
  const transactionId = started.text("data.id")
  const path = `/pos/transactions/${transactionId}`
  yield* ask("POST", `/pos/restaurant/tables/${table.text("data.id")}/assign`, { transactionId })
  yield* ask("POST", `${path}/items`, { entityId, seat: 1 }, `first-${n}`)
  yield* ask("POST", "/pos/restaurant/kds/tickets/fire", { transactionId }, `fire-${n}`)
  yield* ask("POST", `${path}/items`, { entityId, seat: 2 }, `second-${n}`)
  return path
})

/** Every third sale is voided, the others are paid and completed: what a kitchen and tables do about it comes by events. */
const ended = Effect.fnUntraced(function*(path: string, n: number) {
  if (n % 3 === 2) return yield* ask("POST", `${path}/void`, { reason: "x" }, `void-${n}`)
  yield* ask("POST", `${path}/payments`, { method: "cash", amount: 2_000 }, `pay-${n}`)
  return yield* ask("POST", `${path}/complete`, {}, `complete-${n}`)
})

/** Tables that are to be cleaned, and units that the kitchen has of completed and of voided sales. */
const audit = (url: string) =>
  onDatabase(url, (sql) =>
    Effect.map(
      sql`select (select count(*)::int from pos_tables where status = 'cleaning') as cleaning,
        (select count(*)::int from pos_table_assignments where left_at is null) as seated,
        (select coalesce(sum(i.quantity - i.cancelled_quantity), 0)::int from kds_ticket_items i
          join kds_tickets t on t.id = i.ticket_id join pos_transactions s on s.id = t.transaction_id
          where s.status = 'completed') as cooked,
        (select coalesce(sum(i.quantity - i.cancelled_quantity), 0)::int from kds_ticket_items i
          join kds_tickets t on t.id = i.ticket_id join pos_transactions s on s.id = t.transaction_id
          where s.status = 'voided') as wasted,
        (select count(*)::int from pos_transactions where status = 'completed') as completed`,
      ([row]) => row ?? {}
    ))

const expected = { cleaning: 6, seated: 0, cooked: 8, wasted: 0, completed: 4 }

it.live(
  "tables and tickets are right after processes died between the end of sales and their events",
  () =>
    Effect.gen(function*() {
      const { inside, place, url } = yield* restaurantPlace
      yield* Effect.gen(function*() {
        const restaurant = yield* aRestaurant()
        const paths = yield* Effect.forEach([0, 1, 2, 3, 4, 5], (n) => seated(restaurant, n))
        for (const n of [0, 2, 4]) {
          const both = [[paths[n] ?? "", n], [paths[n + 1] ?? "", n + 1]] as const
          yield* Effect.forEach(both, ([path, nth]) => ended(path, nth), { concurrency: 2 })
          yield* place.strike
        }
        yield* eventually(
          "tables and tickets",
          Effect.map(audit(url), (now) => JSON.stringify(now) === JSON.stringify(expected))
        )
      }).pipe(inside)
      assert.deepStrictEqual(yield* audit(url), expected)
    }),
  240_000
)
