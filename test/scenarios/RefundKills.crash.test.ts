import { assert, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { onDatabase } from "../support/Audit.ts"
import { eventually } from "../support/Eventually.ts"
import { aProduct } from "../support/Purchase.ts"
import { aMinuteLater, anAuthorizedOrder, auditMoney, moneyPlace, moneyUnderKills } from "../support/RefundKills.ts"
import { api, asStaff } from "../support/TestApp.ts"

it.live("captures, refunds and returns whose process is killed move their money once", () =>
  Effect.gen(function*() {
    const { orders, refunds } = yield* moneyUnderKills(1, 1, aMinuteLater)
    assert.deepStrictEqual([orders, refunds], [5, 14])
  }))

it.live(
  "a capture and a refund that were written by a process which died before it began them go on",
  () =>
    Effect.gen(function*() {
      const { app, emulator, place, url } = yield* moneyPlace(aMinuteLater)
      yield* Effect.gen(function*() {
        const product = yield* aProduct()
        const [taken, open] = [yield* anAuthorizedOrder(product), yield* anAuthorizedOrder(product)]
        const ask = (id: string, action: string, body: object = {}) =>
          api("POST", `/api/orders/${id}/${action}`, { as: asStaff, body })
        assert.strictEqual((yield* ask(taken.id, "capture")).status, 200)
        const before = emulator.calls().length
        const written = sqlCount(url, `select 1 from refunds union all select 1 from orders where capture_amount = 700`)
        // Nothing durable can be begun while somebody holds the mailboxes: what follows the write has to wait.
        const lost = yield* heldMailboxes(
          url,
          Effect.gen(function*() {
            const asked = yield* Effect.forkChild(
              Effect.all([ask(open.id, "capture", { amount: 700 }), ask(taken.id, "refund", { amount: 70 })], {
                concurrency: "unbounded"
              })
            )
            yield* eventually("both to be written", Effect.map(written, (count) => count === 2))
            yield* place.kill
            yield* endWaiting(url)
            return yield* Fiber.join(asked)
          })
        )
        assert.deepStrictEqual([lost.map(({ status }) => status), emulator.calls().length], [[0, 0], before])
        yield* place.replace
        const books = yield* auditMoney(url, emulator)
        assert.sameDeepMembers(books.map((row) => [row.id, row.captured, row.refunded, row.status]), [
          [open.id, 700, 0, "confirmed"],
          [taken.id, 4_000, 70, "confirmed"]
        ])
      }).pipe(Effect.provide(app))
    })
)

/** A statement that waits for a lock does not notice that its client is dead, and would be carried out after it. */
const endWaiting = (url: string) =>
  eventually(
    "no statement to wait for a lock",
    Effect.map(
      onDatabase(url, (sql) =>
        sql`select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`),
      (ended) => ended.length === 0
    )
  )

const sqlCount = (url: string, query: string) =>
  Effect.map(onDatabase(url, (sql) => sql.unsafe(query)), (rows) => rows.length)

/** Runs the body while no process can send a message to a workflow. */
const heldMailboxes = <A, R>(url: string, body: Effect.Effect<A, never, R>) =>
  Effect.flatMap(Effect.context<R>(), (context) =>
    onDatabase(url, (sql) =>
      sql.withTransaction(
        Effect.andThen(sql`lock table cluster_messages in exclusive mode`, Effect.provide(body, context))
      )))
