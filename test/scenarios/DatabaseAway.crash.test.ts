import { PgClient } from "@effect/sql-pg"
import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { addTo, aGuestCart, aProduct, checkOut } from "../support/Purchase.ts"
import { separateServer } from "../support/SeparateServer.ts"
import { startDeployment, talkingToAll } from "../support/Service.ts"
import type { Answer } from "../support/TestApp.ts"

const refusesPolitely = (answer: Answer) => {
  assert.deepStrictEqual([answer.status, answer.at("error.code")], [503, "SERVICE_UNAVAILABLE"])
  assert.isTrue(answer.headers.has("retry-after"))
}

/** Runs something while a row of a cart is locked, and ends the connection that comes to wait for it. */
const cuttingOffTheWriterOf = Effect.fnUntraced(function*<A, E, R>(cartId: string, work: Effect.Effect<A, E, R>) {
  const sql = yield* SqlClient.SqlClient
  const [locked, done] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
  const holder = yield* Effect.forkChild(sql.withTransaction(
    sql`select 1 from carts where id = ${cartId}::uuid for update`.pipe(
      Effect.andThen(Deferred.succeed(locked, undefined)),
      Effect.andThen(Deferred.await(done))
    )
  ))
  yield* Deferred.await(locked)
  const working = yield* Effect.forkChild(work)
  yield* Effect.repeat(
    sql<{ ended: boolean }>`select pg_terminate_backend(pid) as ended from pg_stat_activity
      where datname = current_database() and application_name = 'stoa' and wait_event_type = 'Lock'`,
    { until: (rows) => rows.length > 0 || working.pollUnsafe() !== undefined }
  )
  const answer = yield* Fiber.join(working)
  yield* Deferred.succeed(done, undefined)
  yield* Fiber.join(holder)
  return answer
})

it.live(
  "what fails in another process because of the database is 503 to the client, and so is a checkout that cannot begin",
  () =>
    Effect.gen(function*() {
      const database = yield* separateServer
      const { apis, runners } = yield* startDeployment(database.url, { apis: 1, runners: 1 })
      yield* Effect.gen(function*() {
        const product = yield* aProduct()
        const [cart, bought] = [yield* aGuestCart(), yield* aGuestCart()]
        assert.strictEqual((yield* addTo(bought, product)).status, 201)
        const cut = yield* cuttingOffTheWriterOf(cart.id, addTo(cart, product)).pipe(
          Effect.provide(PgClient.layer({ url: Redacted.make(database.url), maxConnections: 3 }))
        )
        refusesPolitely(cut)
        assert.strictEqual((yield* addTo(cart, product)).status, 201, "the actor goes on")
        yield* database.stop
        refusesPolitely(yield* addTo(cart, product))
        refusesPolitely(yield* checkOut(bought))
        refusesPolitely(yield* checkOut(bought, {}, { "idempotency-key": "while-it-is-away" }))
      }).pipe(Effect.provide(talkingToAll(apis, database.url)))
      assert.isTrue([...apis, ...runners].every((service) => service.running()), "the very same processes")
    })
)
