import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { onDatabase } from "../support/Audit.ts"
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

const jobs = 1_200
const kills = 4

it.live(
  "a runner that joins gets slots, and kills of runners lose no job, run no key twice at once and drop no tick",
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
      yield* Effect.promise(() => waitFor("runs", async () => await Effect.runPromise(runsOf(url)) >= 20, 20_000))
      // Slots that move to it let their jobs end: none runs a second time, as the audit below asks.
      const joining = yield* placeFor(runner)
      const { pid } = joining.service()
      // It starts as fast as the machine lets it: there is always something left for it.
      const workFor = Effect.gen(function*() {
        if ((yield* openJobs(url, "test/exclusive")) < jobs / 2) yield* enqueue(jobs / 2)
        return (yield* runsOf(url, pid)) > 0
      })
      yield* Effect.promise(() => waitFor("runs of the one that joined", () => Effect.runPromise(workFor), 20_000))
      const places = [alone, joining]
      for (let kill = 0; kill < kills; kill++) {
        const wanted = (yield* runsOf(url)) + 50
        yield* Effect.promise(() =>
          waitFor("more runs", async () =>
            await Effect.runPromise(runsOf(url)) >= wanted ||
            await Effect.runPromise(openJobs(url, "test/exclusive")) === 0, 20_000)
        )
        const place = places[kill % 2]
        assert.isDefined(place)
        yield* place.kill
        yield* place.replace
      }
      yield* Effect.promise(() =>
        waitFor("all jobs", async () => (await Effect.runPromise(openJobs(url, "test/exclusive"))) === 0, 40_000)
      )
      yield* auditRuns(url, places)
      assert.isAtLeast((yield* takeovers(url)).cutOff, 1, "runs that the kills cut off")
      const ticks = yield* onDatabase(url, (sql) =>
        sql<
          { second: number; n: number }
        >`select floor(extract(epoch from created_at))::int4 as second, count(*)::int4 as n
        from commerce_jobs where task_slug = 'test/tick' group by 1 order by 1`)
      // A tick that its runner died over is made up for by the next one, so one second may have two, and another none.
      const total = ticks.reduce((sum, { n }) => sum + n, 0)
      const seconds = (ticks.at(-1)?.second ?? 0) - (ticks[0]?.second ?? 0) + 1
      assert.isAtMost(Math.abs(total - seconds), 1, JSON.stringify(ticks))
    }),
  90_000
)

it.live(
  "a killed runner's jobs run again elsewhere, and one that kills its runner ends after its last try",
  () =>
    Effect.gen(function*() {
      const { url } = yield* freshDatabase
      yield* noteRuns(url)
      const places = [yield* placeFor(jobRunner(url)), yield* placeFor(jobRunner(url))]
      yield* enqueueFrom(url, "test/slow", 40, 40)
      yield* Effect.promise(() =>
        waitFor("all of them to have begun", async () => (await Effect.runPromise(runsOf(url))) >= 40)
      )
      const [victim] = places
      assert.isDefined(victim)
      const killed = performance.now()
      yield* victim.kill
      yield* Effect.promise(() =>
        waitFor("the last one", async () => (await Effect.runPromise(openJobs(url, "test/slow"))) === 0, 30_000)
      )
      // Two seconds of work, and the time that the cluster needs to find out that the runner is gone.
      assert.isAtMost(performance.now() - killed, 12_000)
      yield* victim.replace
      yield* enqueueFrom(url, "test/poison", 1, 1, 3)
      while ((yield* openJobs(url, "test/poison")) > 0) {
        for (const place of places) {
          if (place.service().running()) continue
          yield* place.kill
          yield* place.replace
        }
        yield* Effect.promise(() =>
          waitFor("its end, or that of a runner", async () =>
            await Effect.runPromise(openJobs(url, "test/poison")) === 0 ||
            places.some((place) =>
              !place.service().running()
            ), 40_000)
        )
      }
      const [[job], [runs]] = yield* onDatabase(url, (sql) =>
        Effect.all([
          sql`select status, attempts from commerce_jobs where task_slug = 'test/poison'`,
          sql`select count(*)::int4 as n from job_runs where key like 'test/poison%'`
        ]))
      assert.deepStrictEqual([job, runs], [{ status: "failed", attempts: 3 }, { n: 3 }])
    }),
  120_000
)
