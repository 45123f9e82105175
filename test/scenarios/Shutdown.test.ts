import { assert, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { audit, auditPayments, onDatabase, soldOf } from "../support/Audit.ts"
import { emulatedService, startEmulator } from "../support/PaymentEmulator.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { aCartWith, aProduct, checkOut } from "../support/Purchase.ts"
import { type Service, startService, talkingTo } from "../support/Service.ts"
import { waitFor } from "../support/waitFor.ts"

/** Asserts that the process ends by itself within 20 s and says that it ended well. */
const endsWell = Effect.fnUntraced(function*(service: Service) {
  const told = performance.now()
  const ended = yield* Effect.promise(() => service.ended)
  assert.isAtMost(performance.now() - told, 20_000)
  assert.deepStrictEqual(ended, { code: 0, signal: null }, service.output())
})

const allClaimed = (url: string) =>
  waitFor(
    "every checkout to be under way",
    () =>
      Effect.runPromise(onDatabase(url, (sql) =>
        Effect.map(sql<{ open: number }>`select count(*)::int4 as open from carts where status = 'active'`, ([row]) =>
          row?.open === 0)))
  )

it.live("a process that is told to stop answers the checkouts it has begun", () =>
  Effect.gen(function*() {
    const { url } = yield* freshDatabase
    const emulator = yield* startEmulator
    emulator.behave({ late: 250 })
    const service = yield* startService({ databaseUrl: url, ...emulatedService(emulator) })
    yield* Effect.gen(function*() {
      const product = yield* aProduct({ stock: 20 })
      const carts = yield* Effect.forEach(Array.from({ length: 10 }), () => aCartWith(product), { concurrency: 5 })
      const buyers = yield* Effect.forkChild(
        Effect.forEach(carts, (cart) => checkOut(cart, { paymentMethodId: "card" }), { concurrency: "unbounded" })
      )
      yield* Effect.promise(() => allClaimed(url))
      service.kill("SIGTERM")
      const answers = yield* Fiber.join(buyers)
      assert.deepStrictEqual(answers.map(({ status }) => status), answers.map(() => 201))
      yield* endsWell(service)
      assert.strictEqual(yield* soldOf(url, product), 10)
    }).pipe(Effect.provide(talkingTo(service, url)))
    yield* audit(url)
    yield* auditPayments(url, emulator)
  }), 60_000)

it.live.each(["all", "api", "runner"] as const)(
  "the role \"%s\" ends with code 0 when it is told to stop",
  (role) =>
    Effect.gen(function*() {
      const { url: databaseUrl } = yield* freshDatabase
      const service = yield* startService({ databaseUrl, role, fromSources: [] })
      service.kill("SIGTERM")
      yield* endsWell(service)
    }),
  60_000
)
