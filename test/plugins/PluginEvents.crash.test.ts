import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { fileURLToPath } from "node:url"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { eventually } from "../support/Eventually.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { restart, type Service, startService, talkingTo } from "../support/Service.ts"
import { api, asAdmin } from "../support/TestApp.ts"

const program = fileURLToPath(new URL("../support/serveTracker.ts", import.meta.url))

const counts = onDatabase((sql) =>
  Effect.map(
    sql`select (select count(*)::int4 from event_dispatches) as open, count(*)::int4 as handled,
      count(distinct event_id)::int4 as events from tracker_handled`,
    ([row]) => row
  )
)

it.live(
  "an event whose process is killed after it was handled and before that is recorded is handled again",
  () =>
    Effect.scoped(Effect.gen(function*() {
      const { url } = yield* freshDatabase
      const options = { databaseUrl: url, program }
      let service: Service = yield* startService(options)
      for (const events of [1, 2]) {
        const body = { email: `shopper-${events}@example.com` }
        yield* Effect.provide(api("POST", "/api/customers", { as: asAdmin, body }), talkingTo(service, url))
        assert.strictEqual((yield* Effect.promise(() => service.ended)).signal, "SIGKILL")
        service = yield* restart(service, options)
        yield* Effect.provide(
          eventually(
            "the event to be handled",
            Effect.map(counts, (now) => now?.["open"] === 0 && now["events"] === events)
          ),
          talkingTo(service, url)
        )
        assert.deepStrictEqual(yield* Effect.provide(counts, talkingTo(service, url)), {
          open: 0,
          events,
          handled: 2 * events
        })
      }
    })),
  240_000
)
