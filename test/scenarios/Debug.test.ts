import { assert, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { onDatabase } from "../support/Audit.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { addTo, aGuestCart, aProduct, checkOut } from "../support/Purchase.ts"
import { startDeployment, talkingTo } from "../support/Service.ts"
it.live("debug", () =>
  Effect.gen(function*() {
    const { url } = yield* freshDatabase
    const { apis: [edge], runners } = yield* startDeployment(url, { apis: 1, runners: 2 })
    assert.isDefined(edge)
    const app = talkingTo(edge, url)
    const t0 = performance.now()
    const log = (s: string) => console.log(((performance.now() - t0) | 0) + " " + s)
    const state = Effect.gen(function*() {
      const x = yield* onDatabase(url, (sql) =>
        sql`select (select json_agg(t) from (select count(*), entity_type, tag, shard_id, min(last_read) lr, now() from cluster_messages where not processed group by 2,3,4 ) t) as m, (select json_agg(r) from (select machine_id, address, healthy, last_heartbeat from cluster_runners) r) as r, (select json_agg(l) from (select state, count(*) from holds group by 1) l) as h, (select json_agg(l) from (select status, count(*) from carts group by 1) l) as c, (select json_agg(l) from (select pid, count(*) from pg_locks where locktype='advisory' and database = (select oid from pg_database where datname = current_database()) group by 1) l) as locks`)
      log(JSON.stringify(x))
    })
    yield* state
    const p = yield* aProduct().pipe(Effect.provide(app))
    for (let i = 0; i < 20; i++) {
      const c = yield* aGuestCart().pipe(Effect.provide(app))
      const a = yield* addTo(c, p).pipe(Effect.provide(app))
      log(`add ${a.status}`)
    }
    yield* state
    for (let i = 0; i < 20; i++) {
      const c = yield* aGuestCart().pipe(Effect.provide(app))
      const a = yield* addTo(c, p).pipe(Effect.provide(app))
      const fiber = yield* Effect.forkChild(checkOut(c).pipe(Effect.provide(app)))
      for (let k = 0; k < 4 && !fiber.pollUnsafe(); k++) {
        yield* Effect.sleep("700 millis")
        if (!fiber.pollUnsafe()) {
          yield* state
        }
      }
      const b = yield* Fiber.join(fiber)
      log(`add ${a.status} checkout ${b.status}`)
    }
    for (const r of runners) {
      log("RUNNER " + r.output())
    }
    log("EDGE " + edge.output())
  }), 220_000)
