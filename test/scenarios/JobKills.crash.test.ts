import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { onDatabase } from "../support/Audit.ts"
import { eventually } from "../support/Eventually.ts"
import {
  allEnded,
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

/** Jobs that the schedule of every second has made. */
const ticksOf = (url: string) =>
  onDatabase(url, (sql) =>
    Effect.map(
      sql<{ n: number }>`select count(*)::int4 as n from commerce_jobs where task_slug = 'test/tick'`,
      ([row]) => row?.n ?? 0
    ))

const jobs = 1_200
const kills = 4

it.live(
  "a runner that joins gets slots, and kills of runners lose no job, run no key twice at once and end no schedule",
  () =>
    Effect.gen(function*() {
      const { url } = yield* freshDatabase
      yield* noteRuns(url)
      // Slow enough for others to be at work when the first takeover comes, four seconds after its kill.
      const runner = jobRunner(url, 100)
      const alone = yield* placeFor(runner)
      // Where a slot runs is chance; of the slots of so many queues each of two runners has some.
      const enqueue = (count: number) => enqueueFrom(url, "test/exclusive", count, 20, 1_000, 12)
      yield* enqueue(jobs)
      yield* eventually("runs", Effect.map(runsOf(url), (runs) => runs >= 20))
      // Slots that move to it let their jobs end: none runs a second time, as the audit below asks.
      const joining = yield* placeFor(runner)
      const { pid } = joining.service()
      // It starts as fast as the machine lets it: there is always something left for it.
      const workFor = Effect.gen(function*() {
        if ((yield* openJobs(url, "test/exclusive")) < jobs / 2) yield* enqueue(jobs / 2)
        return (yield* runsOf(url, pid)) > 0
      })
      yield* eventually("runs of the one that joined", workFor)
      const places = [alone, joining]
      for (let kill = 0; kill < kills; kill++) {
        const wanted = (yield* runsOf(url)) + 50
        const counts = Effect.all([runsOf(url), openJobs(url, "test/exclusive")])
        yield* eventually("more runs", Effect.map(counts, ([runs, open]) => runs >= wanted || open === 0))
        const place = places[kill % 2]
        assert.isDefined(place)
        yield* place.kill
        yield* place.replace
      }
      yield* allEnded(url)
      const ticks = yield* ticksOf(url)
      yield* eventually("another tick of the schedule", Effect.map(ticksOf(url), (now) => now > ticks))
      yield* auditRuns(url, places)
      assert.isAtLeast((yield* takeovers(url)).cutOff, 1, "runs that the kills cut off")
    })
)

it.live(
  "a killed runner's jobs run again elsewhere, and one that kills its runner ends after its last try",
  () =>
    Effect.gen(function*() {
      const { url } = yield* freshDatabase
      yield* noteRuns(url)
      const places = [yield* placeFor(jobRunner(url)), yield* placeFor(jobRunner(url))]
      yield* enqueueFrom(url, "test/slow", 40, 40)
      yield* eventually("all of them to have begun", Effect.map(runsOf(url), (runs) => runs >= 40))
      const [victim] = places
      assert.isDefined(victim)
      yield* victim.kill
      yield* allEnded(url, "test/slow")
      yield* victim.replace
      yield* enqueueFrom(url, "test/poison", 1, 1, 3)
      while ((yield* openJobs(url, "test/poison")) > 0) {
        for (const place of places) {
          if (place.service().running()) continue
          yield* place.kill
          yield* place.replace
        }
        yield* eventually(
          "its end, or that of a runner",
          Effect.map(
            openJobs(url, "test/poison"),
            (open) => open === 0 || places.some((place) => !place.service().running())
          )
        )
      }
      const [[job], [runs]] = yield* onDatabase(url, (sql) =>
        Effect.all([
          sql`select status, attempts from commerce_jobs where task_slug = 'test/poison'`,
          sql`select count(*)::int4 as n from job_runs where key like 'test/poison%'`
        ]))
      assert.deepStrictEqual([job, runs], [{ status: "failed", attempts: 3 }, { n: 3 }])
    })
)
