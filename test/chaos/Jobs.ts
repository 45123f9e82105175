import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { auditRuns, enqueueFrom, jobRunner, noteRuns, openJobs, placeFor, runsOf } from "../support/JobKills.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { waitFor } from "../support/waitFor.ts"

const jobs = Number(process.env["STOA_CHAOS_JOBS"] ?? 20_000)
const keys = 100

it.live(`${jobs} jobs on ${keys} exclusive keys while one of four runners after the other is killed`, () =>
  Effect.gen(function*() {
    const { url } = yield* freshDatabase
    yield* noteRuns(url)
    const places = yield* Effect.forEach([1, 2, 3, 4], () => placeFor(jobRunner(url)), { concurrency: 4 })
    yield* enqueueFrom(url, "test/keyed", jobs, keys)
    let kills = 0
    while ((yield* openJobs(url, "test/keyed")) > 0) {
      // A restart takes about a second, so this is a kill a second.
      const wanted = (yield* runsOf(url)) + 1 + Math.random() * 100
      yield* Effect.promise(() =>
        waitFor(
          "more runs",
          async () =>
            await Effect.runPromise(runsOf(url)) >= wanted ||
            await Effect.runPromise(openJobs(url, "test/keyed")) === 0,
          60_000
        )
      )
      const place = places[kills++ % places.length]
      assert.isDefined(place)
      yield* place.kill
      yield* place.replace
      if (kills % 20 === 0) console.log(`${kills} kills, ${yield* openJobs(url, "test/keyed")} jobs left`)
    }
    yield* auditRuns(url)
    console.log(`${kills} kills, ${yield* runsOf(url)} runs of ${jobs} jobs`)
    assert.isAbove(kills, 0)
  }))
