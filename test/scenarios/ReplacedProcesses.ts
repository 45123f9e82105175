import { assert } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { audit } from "../support/Audit.ts"
import { eventually } from "../support/Eventually.ts"
import { poolingProxy } from "../support/PoolingProxy.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { aProduct } from "../support/Purchase.ts"
import { restart, type Service, startService, talkingTo } from "../support/Service.ts"
import { auditConfirmed, shoppers, unannounced } from "../support/Shoppers.ts"
import { api } from "../support/TestApp.ts"
import { waitFor } from "../support/waitFor.ts"

const environment = { STOA_SHUTDOWN_GRACE_MS: "2000" }

/** Replaces each of several processes behind a proxy `times` times while shoppers buy; no request may fail. */
export const replaceOneByOne = ({ processes, times }: { readonly processes: number; readonly times: number }) =>
  Effect.gen(function*() {
    const { url } = yield* freshDatabase
    const options = { databaseUrl: url, environment }
    const services: Array<Service> = yield* Effect.forEach(
      Array.from({ length: processes }, () => options),
      startService,
      { concurrency: 2 }
    )
    const proxy = yield* poolingProxy(services)
    yield* Effect.gen(function*() {
      const product = yield* aProduct({ stock: 100_000 })
      const kept = yield* api("GET", "/api/catalog/entities")
      assert.strictEqual(kept.status, 200)
      const recorded = unannounced()
      let closing = false
      const crowd = yield* Effect.forkChild(shoppers(6, product, recorded, () => closing))
      const moreOrders = Effect.promise(() => {
        const wanted = recorded.orders.length + 10
        return waitFor("orders", () => recorded.orders.length >= wanted || crowd.pollUnsafe() !== undefined)
      })
      for (const place of Array.from({ length: times * processes }, (_, n) => n % processes)) {
        yield* moreOrders
        const old = services[place]
        assert.isDefined(old)
        old.kill("SIGTERM")
        assert.deepStrictEqual(yield* Effect.promise(() => old.ended), { code: 0, signal: null })
        const next = yield* restart(old, options)
        services[place] = next
        yield* eventually("the proxy to send to the new process", Effect.sync(() => proxy.sendsTo(next)))
      }
      yield* moreOrders
      closing = true
      yield* Fiber.join(crowd)
      const { connections, requests } = proxy.sent()
      assert.deepStrictEqual(proxy.failures, [], `of ${requests} requests`)
      assert.isBelow(connections, requests / 2, "connections were kept")
      yield* auditConfirmed(url, recorded)
    }).pipe(Effect.provide(talkingTo({ ...services[0] ?? assert.fail("no process"), url: proxy.url }, url)))
    yield* audit(url)
  })
