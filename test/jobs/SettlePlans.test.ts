import { assert, it } from "@effect/vitest"
import { Effect, Latch, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import type { ClaimedJob } from "../../src/domain/platform/jobs/Job.ts"
import { JobSettings } from "../../src/domain/platform/tasks/JobSettings.ts"
import { JobQueueRepo } from "../../src/layers/jobs/JobQueueRepo.ts"
import { makeJobWorker } from "../../src/layers/jobs/JobWorker.ts"
import { TaskRuns } from "../../src/layers/jobs/TaskRuns.ts"
import { statementsOf } from "../pricing/Statements.ts"
import { done, OneConnection } from "./Queue.ts"

/** How often a statement of this worker was under way at the same time as another one. */
const met = { writing: false, times: 0, extended: 0 }

/** The real ends and leases, which note when two of them meet. */
const Noted = Layer.effect(
  JobQueueRepo,
  Effect.map(JobQueueRepo, (repo) => {
    const alone = <A>(statement: Effect.Effect<A>) =>
      Effect.suspend(() => {
        if (met.writing) met.times++
        met.writing = true
        return Effect.ensuring(statement, Effect.sync(() => met.writing = false))
      })
    return JobQueueRepo.of({
      ...repo,
      settle: (...args) => alone(repo.settle(...args)),
      extend: (...args) => Effect.tap(alone(repo.extend(...args)), Effect.sync(() => met.extended++))
    })
  })
).pipe(Layer.provide(JobQueueRepo.layer))

/** Every job succeeds in a later turn of the process; the first one when leases were extended a few times. */
const Runs = Layer.sync(TaskRuns, () => {
  let first: string | undefined
  const turn = Effect.promise(() => new Promise((end) => setImmediate(end)))
  return TaskRuns.of({
    run: ({ id }) => {
      first ??= id
      const more = () => id === first && met.extended < 5
      return turn.pipe(
        Effect.repeat({ while: more }),
        Effect.as(done(id))
      )
    }
  })
})

const Worker = Layer.merge(Noted, Runs).pipe(
  Layer.provideMerge(JobSettings.layerOf({ leaseMs: 3, concurrency: 5 })),
  Layer.provideMerge(OneConnection)
)

const token = newId()

/** Jobs that are done, and some that this worker has in hand: those. */
const fill = (done: number, inHand: number) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) =>
      sql<
        ClaimedJob
      >`with made as (insert into commerce_jobs (id, organization_id, task_slug, status, lease_token, lease_until)
        select gen_random_uuid(), 'org_default', 'test/none', s, case s when 'processing' then ${token}::uuid end, now()
        from (select case when n > ${done} then 'processing' else 'succeeded' end as s
          from generate_series(1, ${done + inHand}::int4) n) n
        returning *)
        select id, organization_id as "organizationId", task_slug as "taskSlug", input, attempts,
          max_attempts as "maxAttempts", created_at as "createdAt" from made where status = 'processing'`
  )

it.layer(Worker, { excludeTestServices: true, timeout: "60 seconds" })("a worker's statements", (it) => {
  it.effect("a worker's statements find jobs by id, with any number of done jobs since the last vacuum", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const repo = yield* JobQueueRepo
      const jobs = yield* fill(200_000, 500)
      yield* sql`analyze commerce_jobs`
      const ids = jobs.map(({ id }) => id)
      const settlements = ids.map((id) => done(id))
      const rolledBack = sql.withTransaction(
        Effect.andThen(
          repo.extend(token, ids, 1_000),
          Effect.andThen(repo.settle("default", token, settlements), Effect.die("back"))
        )
      )
      const statements = (yield* statementsOf(Effect.exit(rolledBack))).filter(([text]) => /lease_token/.test(text))
      assert.strictEqual(statements.length, 2)
      for (const [text, parameters] of statements) {
        const rows = yield* sql.unsafe<{ readonly "QUERY PLAN": string }>(`explain ${text}`, parameters)
        const plan = rows.map((row) => row["QUERY PLAN"]).join("\n")
        assert.match(plan, /commerce_jobs_pkey/)
        // A filter over pairs of jobs and ends would be one over 500 times 500 of them.
        assert.notMatch(plan, /Join Filter/)
        assert.notMatch(plan.replaceAll(/\{[^}]*\}/g, ""), /jobs_lease|Seq Scan on commerce_jobs/)
      }
      yield* sql`truncate commerce_jobs`
    }))

  it.effect("a worker extends leases and writes results one after the other: two at once could deadlock", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const jobs = yield* fill(0, 500)
      met.extended = 0
      const worker = yield* makeJobWorker("default", token, Latch.makeUnsafe(false))
      yield* Effect.forkScoped(worker.beat)
      yield* worker.take(jobs)
      yield* worker.finish
      const [left] = yield* sql`select count(*)::int4 as count from commerce_jobs where status <> 'succeeded'`
      assert.deepStrictEqual([left?.["count"], met.times], [0, 0])
    }))
})
