import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { fileURLToPath } from "node:url"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { eventually } from "../support/Eventually.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { restart, type Service, startService, talkingTo } from "../support/Service.ts"
import { api, asAdmin } from "../support/TestApp.ts"

const program = fileURLToPath(new URL("../support/serveParcels.ts", import.meta.url))

const steps = onDatabase((sql) =>
  sql`select step, count(*)::int4 as times from parcels_steps group by 1 order by min(created_at)`
)

it.live(
  "a workflow of a plugin goes on where it was after the process is killed in an activity and in a plain step",
  () =>
    Effect.scoped(Effect.gen(function*() {
      const { url } = yield* freshDatabase
      const options = { databaseUrl: url, program }
      let service: Service = yield* startService(options)
      const started = api("POST", "/api/parcels", { as: asAdmin, body: { parcel: "one" } })
      assert.strictEqual((yield* Effect.provide(started, talkingTo(service, url))).status, 201)
      for (const _ of ["pack", "hand over"]) {
        assert.strictEqual((yield* Effect.promise(() => service.ended)).signal, "SIGKILL")
        service = yield* restart(service, options)
      }
      const expected = [{ step: "pack", times: 2 }, { step: "hand over", times: 2 }]
      const isOver = Effect.map(steps, (found) => JSON.stringify(found) === JSON.stringify(expected))
      yield* Effect.provide(eventually("both steps", isOver), talkingTo(service, url))
    })),
  240_000
)
