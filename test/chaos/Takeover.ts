import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import {
  auditRuns,
  busiest,
  enqueueFrom,
  jobRunner,
  noteRuns,
  openJobs,
  placeFor,
  runsOf,
  takeovers
} from "../support/JobKills.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { waitFor } from "../support/waitFor.ts"

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
      yield* Effect.promise(() => waitFor("runs", async () => await Effect.runPromise(runsOf(url)) >= wanted, 30_000))
      const place = yield* Effect.promise(() =>
        waitFor("a runner at work", async () => {
          const pid = await Effect.runPromise(busiest(url))
          return places.find((place) => place.service().pid === pid)
        })
      )
      yield* place.kill
      yield* Effect.promise(() =>
        waitFor("all runs that were cut off", async () => {
          const { cutOff, open } = await Effect.runPromise(takeovers(url))
          return cutOff > 0 && open === 0
        }, 60_000)
      )
      yield* place.replace
    }
    const { cutOff, seconds } = yield* takeovers(url)
    console.log(`${cutOff} runs cut off; seconds until the last of each kill began again: ${
      seconds.map((s) => s.toFixed(2)).join(", ")
    }`)
    yield* Effect.promise(() =>
      waitFor("all jobs", async () => {
        return (await Effect.runPromise(openJobs(url, "test/exclusive"))) === 0
      }, 120_000)
    )
    yield* auditRuns(url, places)
    assert.isAtMost(Math.max(...seconds), bar)
  }))
