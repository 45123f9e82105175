import { assert, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { audit, auditPayments, onDatabase, soldOf } from "../support/Audit.ts"
import { eventually } from "../support/Eventually.ts"
import { emulatedService, startEmulator } from "../support/PaymentEmulator.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { aCartWith, aProduct, checkOut } from "../support/Purchase.ts"
import { separateServer } from "../support/SeparateServer.ts"
import { type Service, startService, talkingTo } from "../support/Service.ts"
import { stallingWay } from "../support/StallingWay.ts"
import { api } from "../support/TestApp.ts"

/** Asserts that the process ends by itself and says that it ended well. */
const endsWell = Effect.fnUntraced(function*(service: Service) {
  const ended = yield* Effect.promise(() => service.ended)
  assert.deepStrictEqual(ended, { code: 0, signal: null }, service.output())
})

const allClaimed = (url: string) =>
  eventually(
    "every checkout to be under way",
    onDatabase(url, (sql) => Effect.map(sql`select 1 from carts where status = 'active'`, ({ length }) => length === 0))
  )

it.live("a stopping process answers the checkouts it has begun", () =>
  Effect.gen(function*() {
    const { url } = yield* freshDatabase
    const emulator = yield* startEmulator
    emulator.behave({ late: 250 })
    const emulated = emulatedService(emulator)
    // What is late must not be too late on a busy machine.
    const environment = { ...emulated.environment, STOA_TEST_PATIENCE_MS: "60000" }
    const service = yield* startService({ databaseUrl: url, ...emulated, environment })
    yield* Effect.gen(function*() {
      const product = yield* aProduct({ stock: 20 })
      const carts = yield* Effect.forEach(Array.from({ length: 10 }), () => aCartWith(product), { concurrency: 5 })
      const buyers = yield* Effect.forkChild(
        Effect.forEach(carts, (cart) => checkOut(cart, { paymentMethodId: "card" }), { concurrency: "unbounded" })
      )
      yield* allClaimed(url)
      service.kill("SIGTERM")
      const answers = yield* Fiber.join(buyers)
      assert.deepStrictEqual(answers.map(({ status }) => status), answers.map(() => 201))
      yield* endsWell(service)
      assert.strictEqual(yield* soldOf(url, product), 10)
    }).pipe(Effect.provide(talkingTo(service, url)))
    yield* audit(url)
    yield* auditPayments(url, emulator)
  }))

it.live.each(["all", "api", "runner"] as const)(
  "the role \"%s\" ends with code 0 when it is stopped",
  (role) =>
    Effect.gen(function*() {
      const { url: databaseUrl } = yield* freshDatabase
      const service = yield* startService({ databaseUrl, role, fromSources: [] })
      service.kill("SIGTERM")
      yield* endsWell(service)
    })
)

it.live(
  "a stopping process reports it to probes at once and keeps no connection, but still answers",
  () =>
    Effect.gen(function*() {
      const { url: databaseUrl } = yield* freshDatabase
      const service = yield* startService({ databaseUrl, environment: { STOA_SHUTDOWN_GRACE_MS: "6000" } })
      yield* Effect.gen(function*() {
        const cart = yield* aCartWith(yield* aProduct({ stock: 1 }))
        assert.notStrictEqual((yield* api("GET", "/api/catalog/entities")).headers.get("connection"), "close")
        service.kill("SIGTERM")
        // Its shards may still be on the way, which is a 503 as well: wait for the one that the signal causes.
        const unready = yield* eventually(
          "it says that it stops",
          Effect.map(api("GET", "/api/ready"), (answer) =>
            answer.at("checks.process.message") === "This process is stopping." ? answer : undefined)
        )
        assert.strictEqual(unready.status, 503)
        assert.strictEqual((yield* api("GET", "/api/health")).at("database"), "closing")
        assert.strictEqual((yield* api("GET", "/health/live")).status, 200)
        const bought = yield* checkOut(cart)
        assert.strictEqual(bought.status, 201)
        assert.strictEqual(bought.headers.get("connection"), "close")
      }).pipe(Effect.provide(talkingTo(service, databaseUrl)))
      yield* endsWell(service)
    })
)

it.live("a process that is stopped while its database is away ends well", () =>
  Effect.gen(function*() {
    const database = yield* separateServer
    const service = yield* startService({ databaseUrl: database.url })
    yield* Effect.gen(function*() {
      const product = yield* aProduct({ stock: 1 })
      const cart = yield* aCartWith(product)
      yield* database.stop
      yield* Effect.forkChild(checkOut(cart))
      service.kill("SIGTERM")
      yield* endsWell(service)
    }).pipe(Effect.provide(talkingTo(service, database.url)))
  }))

it.live(
  "a process whose database does not answer any more ends well, and says what it gave up",
  () =>
    Effect.gen(function*() {
      const { url } = yield* freshDatabase
      const way = yield* stallingWay(url)
      const service = yield* startService({ databaseUrl: way.url })
      yield* Effect.gen(function*() {
        const product = yield* aProduct({ stock: 20 })
        const carts = yield* Effect.forEach(Array.from({ length: 10 }), () => aCartWith(product), { concurrency: 5 })
        yield* Effect.forkChild(way.stall(60_000))
        yield* Effect.forkChild(Effect.forEach(carts, (cart) => checkOut(cart), { concurrency: "unbounded" }))
        service.kill("SIGTERM")
        yield* endsWell(service)
        assert.match(service.output(), /stoa: gave up waiting for [a-z ]+ after 13 s/)
      }).pipe(Effect.provide(talkingTo(service, url)))
    })
)
