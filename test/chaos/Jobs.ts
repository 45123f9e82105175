import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import {
  auditRuns,
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

const jobs = Number(process.env["STOA_CHAOS_JOBS"] ?? 6_000)
const keys = 100
const handlerMs = 40
const leastKills = 30
/** Kills that cut runs off: where a kill strikes is chance, so the run lasts until enough of them struck home. */
const leastHits = 15
const mostKills = 600

it.live(`${jobs} jobs on ${keys} exclusive keys while one of four runners is killed every second`, () =>
  Effect.gen(function*() {
    const { url } = yield* freshDatabase
    yield* noteRuns(url)
    const places = yield* Effect.forEach([1, 2, 3, 4], () => placeFor(jobRunner(url, handlerMs)), { concurrency: 4 })
    yield* enqueueFrom(url, "test/exclusive", jobs, keys)
    const begun = performance.now()
    const seconds = () => (performance.now() - begun) / 1_000
    const left = openJobs(url, "test/exclusive")
    let [kills, enqueued] = [0, jobs]
    /** More jobs while the kills so far prove too little. */
    const goesOn = Effect.gen(function*() {
      const open = yield* left
      if (open > 200 || kills >= mostKills) return open > 0
      if (kills >= leastKills && (yield* takeovers(url)).hits >= leastHits) return open > 0
      yield* enqueueFrom(url, "test/exclusive", 1_000, keys)
      enqueued += 1_000
      return true
    })
    for (; yield* goesOn; kills++) {
      yield* Effect.promise(() =>
        waitFor(
          "the next second, or the last job",
          async () => seconds() >= kills + 1 || await Effect.runPromise(left) === 0
        )
      )
      const place = places[kills % places.length]
      assert.isDefined(place)
      // The victim's successor starts while the next one works and lives for four seconds, about as long as a takeover
      // lasts: on a small machine there are whole seconds in which no slot has a runner.
      yield* place.strike
      if (kills % 10 === 9) console.log(`${kills + 1} kills, ${yield* left} jobs left after ${seconds().toFixed(1)} s`)
    }
    const lasted = seconds()
    yield* auditRuns(url, places)
    const { cutOff, hits, open } = yield* takeovers(url)
    console.log(
      `${kills} kills in ${lasted.toFixed(1)} s; ${hits} of them cut off ${cutOff} runs; ` +
        `${yield* runsOf(url)} runs of ${enqueued} jobs`
    )
    assert.isAtLeast(hits, leastHits, "kills that cut runs off, else this run proves nothing")
    assert.strictEqual(open, 0, "runs that were cut off and never began again")
  }))
