import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { onDatabase } from "../support/Audit.ts"
import { lineTo } from "../support/DatabaseLine.ts"
import { eventually } from "../support/Eventually.ts"
import { allEnded, enqueueFrom, jobRunner, noteRuns, openJobs, runsOf } from "../support/JobKills.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { separateServer } from "../support/SeparateServer.ts"
import { startService } from "../support/Service.ts"
import { waitFor } from "../support/waitFor.ts"

/** Longer than it takes another runner to have the slot. */
const handlerMs = 20_000

const overlaps = (notes: string) =>
  onDatabase(notes, (sql) =>
    sql`select a.key, a.pid as one, b.pid as other, b.begun - a.begun as after from job_runs a
      join job_runs b on a.key = b.key and a.id < b.id
      where b.begun < coalesce(a.ended, clock_timestamp()) and a.begun < coalesce(b.ended, clock_timestamp())`)

const notedRuns = (notes: string, pid?: number) =>
  eventually("runs", Effect.map(runsOf(notes, pid), (runs) => runs > 0))

/** A runner that records its runs in a second database, which stays when the runner's goes away. */
const noting = (databaseUrl: string, notes: string, exclusiveMs: number) => {
  const options = jobRunner(databaseUrl, exclusiveMs)
  return startService({ ...options, environment: { ...options.environment, STOA_TEST_NOTES_URL: notes } })
}

it.live(
  "a runner that is cut off from the database stops its jobs before another one runs them",
  () =>
    Effect.gen(function*() {
      const [{ url }, notes] = [yield* freshDatabase, yield* freshDatabase]
      yield* noteRuns(notes.url)
      const line = yield* lineTo(url)
      const cutOff = yield* noting(line.url, notes.url, handlerMs)
      yield* enqueueFrom(url, "test/exclusive", 4, 4)
      yield* notedRuns(notes.url, cutOff.pid)
      const other = yield* noting(url, notes.url, 100)
      // Slots that have moved to the new one by themselves are of no use here.
      yield* eventually("the runner to work", Effect.sync(() => other.output().includes("runner ready")))
      yield* line.cut
      yield* allEnded(url)
      assert.isTrue(cutOff.running())
      assert.isAbove(yield* runsOf(notes.url, other.pid), 0)
      assert.deepStrictEqual(yield* overlaps(notes.url), [])
    })
)

it.live(
  "runners that a crash of the database takes by surprise never run one exclusive key twice at once",
  () =>
    Effect.gen(function*() {
      const database = yield* separateServer
      const notes = yield* freshDatabase
      yield* noteRuns(notes.url)
      const runners = yield* Effect.all([1, 2].map(() => noting(database.url, notes.url, 3_000)), { concurrency: 2 })
      yield* enqueueFrom(database.url, "test/exclusive", 60, 20, 1_000, 4)
      for (let crash = 0; crash < 2; crash++) {
        yield* notedRuns(notes.url)
        yield* database.crash
        yield* Effect.promise(() =>
          waitFor("the database to be back", () =>
            Effect.runPromise(openJobs(database.url, "test/exclusive")).then(() => true))
        )
        const before = yield* runsOf(notes.url)
        yield* eventually(
          "more runs",
          Effect.map(runsOf(notes.url), (runs) =>
            runs > before)
        )
      }
      yield* allEnded(database.url)
      for (const { running } of runners) assert.isTrue(running())
      assert.deepStrictEqual(yield* overlaps(notes.url), [])
    }),
  240_000
)
