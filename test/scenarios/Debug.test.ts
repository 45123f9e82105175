import { assert, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { audit, soldOf, onDatabase } from "../support/Audit.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { aRush, everybodyBuys } from "../support/Rush.ts"
import { startDeployment, talkingTo } from "../support/Service.ts"
import { waitFor } from "../support/waitFor.ts"
it.live("debug", () =>
    Effect.gen(function*() {
      const { url } = yield* freshDatabase
      const { apis: [edge], runners } = yield* startDeployment(url, { apis: 1, runners: 2 })
      const [runner, other] = runners
      assert.isDefined(edge)
      assert.isDefined(runner)
      const app = talkingTo(edge, url)
      const t0 = performance.now()
      const log = (s: string) => console.log(((performance.now()-t0)|0) + " " + s)
      const a = yield* aRush(5, 20).pipe(Effect.provide(app))
      log("rush made")
      yield* everybodyBuys(a.carts).pipe(Effect.provide(app))
      log("rush 1 done")
      const { carts, product } = yield* aRush(5, 20).pipe(Effect.provide(app))
      log("rush made")
      const buyers = yield* Effect.forkChild(everybodyBuys(carts, 1, "60 seconds").pipe(Effect.provide(app)))
      yield* Effect.promise(() => waitFor("the first sale", () => Effect.runPromise(soldOf(url, product))))
      log("first sale")
      runner.kill("SIGKILL")
      for (let i = 0; i < 8; i++) {
        yield* Effect.sleep("3 seconds")
        const x = yield* onDatabase(url, (sql) => sql`select (select json_agg(t) from (select count(*), entity_type, tag, shard_id, min(last_read) lr, now() from cluster_messages where not processed group by 2,3,4 ) t) as m, (select json_agg(r) from cluster_runners r) as r, (select json_agg(l) from (select state, count(*) from holds group by 1) l) as h, (select json_agg(l) from (select status, count(*) from carts group by 1) l) as c`)
        log(JSON.stringify(x, null, 1))
        if (buyers.pollUnsafe()) break
      }
      log("OTHER " + other?.output()); log("EDGE " + edge.output())
      const answers = yield* Fiber.join(buyers)
      log("joined " + answers.map(x=>x.status).join())
      yield* audit(url)
    }), 120_000)
