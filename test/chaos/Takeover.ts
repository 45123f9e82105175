import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { onDatabase } from "../support/Audit.ts"
import { eventually } from "../support/Eventually.ts"
import {
  allEnded,
  auditRuns,
  busiest,
  enqueueFrom,
  jobRunner,
  noteRuns,
  placeFor,
  runsOf,
  takeovers
} from "../support/JobKills.ts"
import { freshDatabase } from "../support/Postgres.ts"

const kills = Number(process.env["STOA_CHAOS_KILLS"] ?? 5)
const keys = 100
const bar = 6

it.live(`the jobs of a killed runner begin again within ${bar} seconds, ${kills} times`, () =>
  Effect.gen(function*() {
    const { url } = yield* freshDatabase
    yield* noteRuns(url)
    const places = yield* Effect.forEach([1, 2, 3], () => placeFor(jobRunner(url, 40)), { concurrency: 3 })
    for (let kill = 1; kill <= kills; kill++) {
      // Every runner has had the time to be given work, and nothing ends before the takeover has.
      yield* enqueueFrom(url, "test/exclusive", 5_000, keys)
      const wanted = (yield* runsOf(url)) + 200
      yield* eventually("runs", Effect.map(runsOf(url), (runs) => runs >= wanted))
      const place = yield* eventually(
        "a runner at work",
        Effect.map(busiest(url), (pid) => places.find((place) => place.service().pid === pid))
      )
      yield* place.kill
      yield* eventually(
        "all runs that were cut off",
        Effect.map(takeovers(url), ({ cutOff, open }) => cutOff > 0 && open === 0)
      )
      yield* place.replace
    }
    const { cutOff, seconds } = yield* takeovers(url)
    console.log(`${cutOff} runs cut off; seconds until the last of each kill began again: ${
      seconds.map((s) => s.toFixed(2)).join(", ")
    }`)
    yield* allEnded(url)
    yield* auditRuns(url, places)
    assert.isAtMost(Math.max(...seconds), bar)
    // A tick that its runner died over is made up for by the next one, so one second may have two, and another none.
    const [ticks] = yield* onDatabase(url, (sql) =>
      sql<{ made: number; seconds: number }>`select count(*)::int4 as made,
          (max(s) - min(s) + 1)::int4 as seconds
        from (select floor(extract(epoch from created_at)) as s from commerce_jobs where task_slug = 'test/tick') ticks`)
    assert.isAtMost(Math.abs((ticks?.made ?? 0) - (ticks?.seconds ?? 0)), 1)
  }))
