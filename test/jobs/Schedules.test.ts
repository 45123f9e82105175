import { assert, it } from "@effect/vitest"
import { Clock, Effect, Exit, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { defineTask, type Task } from "../../src/domain/platform/tasks/Task.ts"
import { JobSchedules } from "../../src/layers/jobs/QueuedJobs.ts"
import { queueLayer } from "./Queue.ts"

const hourly = defineTask({ slug: "test/hourly", schedule: "0 * * * *", handler: () => Effect.void })
const layerOf = queueLayer({ tasks: [hourly] })

/** Another process over the same database. */
const another = Effect.map(
  Layer.build(Layer.fresh(JobSchedules.layer)),
  (context) => Effect.provideContext(Effect.flatMap(JobSchedules, ({ enqueueDue }) => enqueueDue), context)
)

const jobs = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ n: number }>`select count(*)::int4 as n from commerce_jobs
    where task_slug = 'test/hourly' and organization_id = 'org_default' and input = '{}'`
  return row?.n
})

it.layer(layerOf)("a schedule", (it) => {
  it.effect("a schedule becomes one job per tick, by the process that is first", () =>
    Effect.gen(function*() {
      const [a, b] = [yield* another, yield* another]
      yield* a
      yield* b
      assert.strictEqual(yield* jobs, 0, "no tick has passed since the first start")
      yield* TestClock.adjust("1 hour")
      yield* Effect.all([a, b], { concurrency: 2 })
      assert.strictEqual(yield* jobs, 1)
      // The machine slept; of the two ticks without it the last one is made up for.
      yield* TestClock.adjust("2 hours")
      yield* Effect.all([a, b], { concurrency: 2 })
      assert.strictEqual(yield* jobs, 2)
      // Both processes died.
      yield* TestClock.adjust("5 hours")
      const [c, d] = [yield* another, yield* another]
      yield* Effect.all([c, d], { concurrency: 2 })
      assert.strictEqual(yield* jobs, 3)
      yield* Effect.all([a, c, d], { concurrency: 3 })
      assert.strictEqual(yield* jobs, 3)
    }))
})

const minutely = defineTask({ slug: "test/hourly", schedule: "* * * * *", handler: () => Effect.void })

/** Nothing wakes on the way there, as on a machine that slept. */
const inAThousandYears = (clock: Clock.Clock): Clock.Clock => {
  const at = clock.currentTimeMillisUnsafe() + 365_000 * 86_400_000
  return Object.assign(Object.create(clock), {
    currentTimeMillis: Effect.succeed(at),
    currentTimeMillisUnsafe: () => at
  })
}

it.layer(queueLayer({ tasks: [minutely] }))("a schedule of each minute", (it) => {
  it.effect("is made up for by its last tick, also after a thousand years", () =>
    Effect.gen(function*() {
      const process = yield* another
      yield* process
      yield* Effect.updateService(process, Clock.Clock, inAThousandYears)
      assert.strictEqual(yield* jobs, 1)
    }))
})

const everywhere = defineTask({
  slug: "test/everywhere",
  schedule: "0 * * * *",
  everyOrganization: true,
  handler: () => Effect.void
})

/** Jobs, and organizations that have one. */
const jobsEverywhere = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ jobs: number; organizations: number }>`select count(*)::int4 as jobs,
    count(distinct organization_id)::int4 as organizations from commerce_jobs where task_slug = 'test/everywhere'`
  return row
})

it.layer(queueLayer({ tasks: [everywhere] }))("a schedule for every organization", (it) => {
  it.effect("makes one job for each, and leaves none out when its process ends in the middle", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* sql`insert into organizations (id, slug, name) select 'o' || n, 'o' || n, 'o' from generate_series(1, 2499) n`
      const [a, b] = [yield* another, yield* another]
      yield* Effect.all([a, b])
      yield* TestClock.adjust("1 hour")
      yield* sql.unsafe(`create function fail() returns trigger language plpgsql as $$ begin
        if new.organization_id = 'o999' then raise exception 'the connection is gone'; end if; return new; end $$`)
      yield* sql`create trigger fails before insert on commerce_jobs for each row execute function fail()`
      assert.isTrue(Exit.isFailure(yield* Effect.exit(a)))
      assert.deepStrictEqual(yield* jobsEverywhere, { jobs: 0, organizations: 0 })
      yield* sql`drop trigger fails on commerce_jobs`
      yield* Effect.all([a, b], { concurrency: 2 })
      assert.deepStrictEqual(yield* jobsEverywhere, { jobs: 2500, organizations: 2500 })
    }))

  it.effect("makes no second job for an organization whose job waits, and runs no two of one at a time", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const process = yield* another
      yield* process
      const [row] = yield* sql<{ n: number }>`select count(*)::int4 as n from commerce_jobs
        where exclusive and concurrency_key = 'test/everywhere'`
      assert.strictEqual(row?.n, 2500)
      yield* sql`update commerce_jobs set status = 'succeeded' where organization_id in ('o1', 'o2')`
      yield* TestClock.adjust("1 hour")
      yield* process
      assert.deepStrictEqual(yield* jobsEverywhere, { jobs: 2502, organizations: 2500 })
    }))
})

const flaws: ReadonlyArray<readonly [Partial<Task>, string]> = [
  [{ schedule: "every day" }, "The task 'test/wrong' has the schedule 'every day', which is no cron expression."],
  [{ everyOrganization: true }, "The task 'test/wrong' is for every organization and has no schedule."]
]

for (const [part, message] of flaws) {
  const wrong = defineTask({ slug: "test/wrong", handler: () => Effect.void, ...part })
  it.layer(queueLayer({ tasks: [wrong] }))(`a task with ${JSON.stringify(part)}`, (it) => {
    it.effect("ends the start with an error that names it", () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(Effect.flatMap(JobSchedules, ({ enqueueDue }) => enqueueDue))
        assert.strictEqual(error.message, message)
      }))
  })
}
