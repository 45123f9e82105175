import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import { JobClaimStatements } from "../../src/layers/jobs/JobClaimStatements.ts"
import { JobQueueRepo } from "../../src/layers/jobs/JobQueueRepo.ts"
import { TestDatabase } from "../support/Postgres.ts"
import { insert, openAnother } from "./AnotherTenant.ts"

const Repos = Layer.merge(JobClaimStatements.layer, JobQueueRepo.layer).pipe(
  Layer.provideMerge(TestDatabase)
)

const key = "the same"

/** A job of an empty queue that needs the key exclusively; `blocked`: put aside until it may have it. */
const aJob = Effect.fnUntraced(function*(queue: string, organization: string, minutesOld: number, blocked = false) {
  const sql = yield* SqlClient.SqlClient
  const id = newId()
  yield* sql`insert into commerce_jobs (id, organization_id, queue, task_slug, concurrency_key, exclusive, blocked,
      created_at)
    values (${id}::uuid, ${organization}, ${queue}, 'test/any', ${key}, true, ${blocked},
      now() - make_interval(mins => ${minutesOld}))`
  return id
})

const claimOf = (queue: string) => ({ queue, limit: 9, slot: "test", token: newId(), leaseMs: 60_000 })

const blockedOf = (ids: ReadonlyArray<string>) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.map(
      sql<{ id: string; blocked: boolean }>`select id, blocked from commerce_jobs where id = any(${ids}::uuid[])`,
      (rows) => ids.map((id) => rows.find((row) => row.id === id)?.blocked)
    ))

const idsOf = ({ jobs }: { readonly jobs: ReadonlyArray<{ readonly id: string }> }) => jobs.map(({ id }) => id)

/** An empty queue. */
const aQueue = Effect.gen(function*() {
  yield* openAnother
  yield* (yield* SqlClient.SqlClient)`truncate commerce_jobs, job_keys`
  return newId()
})

it.layer(Repos, { excludeTestServices: true })("repositories of jobs with the same key in two organizations", (it) => {
  it.effect("repositories of jobs with the same key in two organizations do not wait for an older job of another tenant, and unblock none of its jobs", () =>
    Effect.gen(function*() {
      const queue = yield* aQueue
      const theirs = yield* aJob(queue, "org_another", 9, true)
      const [first, second] = [yield* aJob(queue, "org_default", 5), yield* aJob(queue, "org_default", 4)]
      const claim = claimOf(queue)
      const taken = yield* JobClaimStatements.use((repo) => repo.take(claim, { field: "createdAt" }))
      assert.deepStrictEqual(idsOf(taken), [first])
      assert.deepStrictEqual(yield* blockedOf([theirs, second]), [true, true])
      const ended = { id: first, status: "succeeded", output: null, error: null, delayMs: 0, counted: true } as const
      yield* JobQueueRepo.use((repo) => repo.settle(queue, claim.token, [ended]))
      assert.deepStrictEqual(yield* blockedOf([theirs, second]), [true, false])
    }))

  it.effect("repositories of jobs with the same key in two organizations claim fairly for the organization whose turn it is", () =>
    Effect.gen(function*() {
      const queue = yield* aQueue
      yield* aJob(queue, "org_another", 9)
      const own = yield* aJob(queue, "org_default", 5)
      const taken = yield* JobClaimStatements.use((repo) => repo.takeFairly(claimOf(queue), "", ["org_another"]))
      assert.deepStrictEqual(idsOf(taken), [own])
    }))

  it.effect("repositories of jobs with the same key in two organizations unblock a job whose key is free in its organization, though another tenant's job has it", () =>
    Effect.gen(function*() {
      const queue = yield* aQueue
      const theirs = yield* aJob(queue, "org_another", 9, true)
      const own = yield* aJob(queue, "org_default", 5, true)
      yield* insert("job_keys", { organization_id: "org_another", concurrency_key: key, job_id: newId() })
      assert.strictEqual(yield* (yield* JobQueueRepo).unpark, 1)
      assert.deepStrictEqual(yield* blockedOf([theirs, own]), [true, false])
    }))

  it.effect("repositories of jobs with the same key in two organizations replace no job of another tenant", () =>
    Effect.gen(function*() {
      const queue = yield* aQueue
      yield* aJob(queue, "org_another", 9)
      const own = yield* aJob(queue, "org_default", 5)
      const superseded = [{ organizationId: "org_default", task: "test/any", concurrencyKey: key }]
      assert.deepStrictEqual(yield* JobQueueRepo.use((repo) => repo.replace(superseded, [])), [own])
    }))
})
