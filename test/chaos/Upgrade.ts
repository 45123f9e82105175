import { assert, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { fileURLToPath } from "node:url"
import { audit, onDatabase } from "../support/Audit.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { aProduct } from "../support/Purchase.ts"
import { restart, type Service, startService, talkingToAll } from "../support/Service.ts"
import { auditConfirmed, shoppers, unannounced } from "../support/Shoppers.ts"
import { waitFor } from "../support/waitFor.ts"

const rounds = Number(process.env["STOA_CHAOS_UPGRADES"] ?? 2)
const roles = ["api", "api", "runner", "runner", "runner"] as const

const program = fileURLToPath(new URL("../support/serveVersion.ts", import.meta.url))

/** A process of the deployment, replaced by one of another version on the same ports, as an orchestrator does. */
const placeOf = Effect.fnUntraced(function*(databaseUrl: string, role: typeof roles[number]) {
  const options = (version: "this" | "next") => ({
    databaseUrl,
    role,
    program,
    environment: { STOA_ROLE: role, STOA_TEST_VERSION: version }
  })
  let service: Service = yield* startService(options("this"))
  return {
    service: () => service,
    become: Effect.fnUntraced(function*(version: "this" | "next") {
      service.kill("SIGTERM")
      assert.isNull((yield* Effect.promise(() => service.ended)).signal, service.output())
      service = yield* restart(service, options(version))
    })
  }
})

it.live("five processes become the next version one by one under load, and this one again", () =>
  Effect.gen(function*() {
    const { url } = yield* freshDatabase
    const places = yield* Effect.forEach(roles, (role) => placeOf(url, role), { concurrency: 3 })
    const app = talkingToAll(places.slice(0, 2).map(({ service }) => service()), url)
    const product = yield* aProduct({ stock: 1_000_000 }).pipe(Effect.provide(app))
    const recorded = unannounced()
    let closing = false
    const crowd = yield* Effect.forkChild(shoppers(8, product, recorded, () => closing).pipe(Effect.provide(app)))
    const moreOrders = Effect.suspend(() => {
      const wanted = recorded.orders.length + 20
      const enough = () => recorded.orders.length >= wanted || crowd.pollUnsafe() !== undefined
      return Effect.promise(() => waitFor("orders of both versions", enough, 90_000))
    })
    for (let round = 1; round <= rounds; round++) {
      for (const version of ["next", "this"] as const) {
        for (const place of places) {
          yield* moreOrders
          yield* place.become(version)
        }
        console.log(`round ${round}, all ${version}: ${recorded.orders.length} orders`)
      }
    }
    yield* moreOrders
    closing = true
    yield* Fiber.join(crowd)
    yield* audit(url)
    yield* auditConfirmed(url, recorded)
    assert.deepStrictEqual([...recorded.refusals], [], "no request was refused for it")
    const missing = yield* onDatabase(
      url,
      (sql) => sql`select id from orders where status <> 'cancelled' and id not in (select order_id from receipts)`
    )
    assert.deepStrictEqual(missing, [], "both versions wrote into the same table")
  }))
