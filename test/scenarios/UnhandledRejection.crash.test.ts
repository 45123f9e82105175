import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { freshDatabase } from "../support/Postgres.ts"
import { startService, talkingTo } from "../support/Service.ts"
import { api } from "../support/TestApp.ts"
import { waitFor } from "../support/waitFor.ts"

const preload = new URL("../support/unhandledRejection.ts", import.meta.url).href

it.live("a process logs the failure of a promise without a handler, and serves on", () =>
  Effect.gen(function*() {
    const { url: databaseUrl } = yield* freshDatabase
    const service = yield* startService({ databaseUrl, fromSources: ["--import", preload] })
    service.kill("SIGUSR2")
    const isReported = () =>
      !service.running() || /promise without a handler failed[^]*left alone by a hook/.test(service.output())
    yield* Effect.promise(() => waitFor("the failure in the log", isReported))
    const health = yield* Effect.provide(api("GET", "/api/health"), talkingTo(service, databaseUrl))
    assert.strictEqual(health.status, 200)
    service.kill("SIGTERM")
    assert.deepStrictEqual(yield* Effect.promise(() => service.ended), { code: 0, signal: null }, service.output())
  }))
