import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { freshDatabase } from "../support/Postgres.ts"
import { startService, talkingTo } from "../support/Service.ts"
import { api } from "../support/TestApp.ts"
import { replaceOneByOne } from "./ReplacedProcesses.ts"

it.live(
  "processes behind a proxy lose no request while they are replaced one by one",
  () => replaceOneByOne({ processes: 2, times: 2 })
)

it.live("a connection is kept for longer than proxies keep theirs", () =>
  Effect.gen(function*() {
    const { url: databaseUrl } = yield* freshDatabase
    const service = yield* startService({ databaseUrl })
    const answer = yield* api("GET", "/health/live").pipe(Effect.provide(talkingTo(service, databaseUrl)))
    assert.strictEqual(answer.headers.get("keep-alive"), "timeout=90")
  }))
