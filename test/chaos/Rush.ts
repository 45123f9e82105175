import { assert, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { audit, auditAlways, onDatabase, soldOf } from "../support/Audit.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { aRush, everybodyBuys } from "../support/Rush.ts"
import { restart, type Service, startDeployment, talkingTo } from "../support/Service.ts"
import { waitFor } from "../support/waitFor.ts"

const buyers = Number(process.env["STOA_CHAOS_BUYERS"] ?? 2_000)
const pieces = 100
/** Units that may be sold beside those that are there. */
const later = Number(process.env["STOA_CHAOS_LATER"] ?? 0)
const all = pieces + later

const buyAll = (carts: Parameters<typeof everybodyBuys>[0], round: number) => everybodyBuys(carts, round, 200)

/** Checkouts whose reservation was decided, either way. */
const served = (url: string) =>
  onDatabase(
    url,
    (sql) => Effect.map(sql<{ n: number }>`select count(*)::int4 as n from holds`, ([row]) => row?.n ?? 0)
  )

it.live(`${buyers} buyers on ${pieces} pieces, ${later} more of which may wait, buy exactly these while runners are killed`, () =>
  Effect.gen(function*() {
    const { url } = yield* freshDatabase
    const { apis: [edge], runners } = yield* startDeployment(url, { apis: 1, runners: 2 })
    assert.isDefined(edge)
    const app = talkingTo(edge, url)
    const { carts, product } = yield* aRush(pieces, buyers, later).pipe(Effect.provide(app))
    const places: Array<Service> = [...runners]
    let left = carts
    for (let round = 1; left.length > 0; round++) {
      const crowd = yield* Effect.forkChild(buyAll(left, round).pipe(Effect.provide(app)))
      for (let turn = 0; crowd.pollUnsafe() === undefined; turn = 1 - turn) {
        // After a random number of further buyers was served, or all were.
        const wanted = (yield* served(url)) + 1 + Math.random() * 100
        yield* Effect.promise(() =>
          waitFor(
            "buyers to be served",
            async () => crowd.pollUnsafe() !== undefined || await Effect.runPromise(served(url)) >= wanted,
            90_000
          )
        )
        const victim = places[turn]
        assert.isDefined(victim)
        victim.kill("SIGKILL")
        places[turn] = yield* restart(victim, { databaseUrl: url, role: "runner" })
        yield* auditAlways(url)
        assert.isAtMost(yield* soldOf(url, product), all)
      }
      const answers = yield* Fiber.join(crowd)
      yield* audit(url)
      const sold = yield* soldOf(url, product)
      console.log(`round ${round}: sold ${sold}, ${
        JSON.stringify(Object.fromEntries(
          [...Map.groupBy(answers, (recorded) =>
            recorded.status === 201 ? "bought" : recorded.text("error.message").slice(0, 24))]
            .map(([recorded, of]) => [recorded, of.length])
        ))
      }`)
      if (sold === all) break
      assert.isAtMost(round, 10, "the pieces sell once the killing stops mattering")
      left = left.filter((_, n) => answers[n]?.status !== 201)
    }
    assert.strictEqual(yield* soldOf(url, product), all)
  }))
