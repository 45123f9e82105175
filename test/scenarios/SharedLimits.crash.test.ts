import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { separateServer } from "../support/SeparateServer.ts"
import { type Service, startService } from "../support/Service.ts"

const environment = { STOA_RATE_LIMIT_FACTOR: "0.001", TRUSTED_PROXY_IP: "127.0.0.1" }

/**
 * Requests of one visitor to processes in turn, as many at a time as leave the processes time to hear of the store; how many
 * of each window were not refused.
 */
const rush = Effect.fnUntraced(function*(services: ReadonlyArray<Service>, count: number, address: string) {
  const admitted = new Map<string, number>()
  const send = async (index: number) => {
    const { headers, status } = await fetch(`${services[index % services.length]?.url}/api/nothing`, {
      headers: { "x-forwarded-for": address }
    })
    assert.include([404, 429], status)
    const window = headers.get("x-ratelimit-reset") ?? ""
    admitted.set(window, (admitted.get(window) ?? 0) + (status === 429 ? 0 : 1))
  }
  yield* Effect.forEach(Array.from({ length: count }).keys(), (index) => Effect.promise(() => send(index)), {
    concurrency: 16,
    discard: true
  })
  return [...admitted.values()]
})

it.live(
  "two processes of a deployment share their limits, and each counts alone while the database is away",
  () =>
    Effect.gen(function*() {
      const database = yield* separateServer
      const start = () => startService({ databaseUrl: database.url, role: "api", environment })
      const both = [yield* start(), yield* start()]
      for (const address of ["203.0.113.1", "203.0.113.2", "203.0.113.3"]) {
        // Each by itself would admit 100 more.
        for (const admitted of yield* rush(both, 400, address)) assert.isBelow(admitted, 200)
      }
      yield* database.stop
      for (const one of both) {
        const windows = yield* rush([one], 200, "203.0.113.9")
        for (const admitted of windows) assert.isAtMost(admitted, 100)
        assert.isTrue(windows.some((admitted) => admitted > 0))
      }
      yield* database.start
      const back = yield* rush(both, 400, "203.0.113.4")
      assert.isTrue(back.some((admitted) => admitted > 0))
      assert.isTrue(both.every((service) => service.running()))
    })
)
