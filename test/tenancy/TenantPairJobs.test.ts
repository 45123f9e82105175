import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { newId } from "../../src/domain/ids/Id.ts"
import { JobClaimRepo, jobClaimRepoLayer } from "../../src/layers/jobs/JobClaimRepo.ts"
import { JobEnqueueRepo, jobEnqueueRepoLayer } from "../../src/layers/jobs/JobEnqueueRepo.ts"
import { JobSettleRepo, jobSettleRepoLayer } from "../../src/layers/jobs/JobSettleRepo.ts"
import { TestDatabase } from "../support/Postgres.ts"
import { openElsewhere } from "./Anonymous.ts"

const Repos = Layer.mergeAll(jobClaimRepoLayer, jobEnqueueRepoLayer, jobSettleRepoLayer).pipe(
  Layer.provideMerge(TestDatabase)
)

const key = "the same"

interface Spec {
  readonly queue: string
  readonly organization: "org_default" | "org_elsewhere"
  readonly blocked?: boolean
  readonly minutesOld: number
}

/** A job that wants the key for itself; blocked: put aside until it may have it. */
const aJob = Effect.fnUntraced(function*({ blocked = false, minutesOld, organization, queue }: Spec) {
  const sql = yield* SqlClient.SqlClient
  const id = newId()
  yield* sql`insert into commerce_jobs (id, organization_id, queue, task_slug, concurrency_key, exclusive, blocked,
      created_at)
    values (${id}::uuid, ${organization}, ${queue}, 'test/any', ${key}, true, ${blocked},
      now() - make_interval(mins => ${minutesOld}))`
  return id
})

const claimOf = (queue: string, token = newId()) => ({ queue, limit: 9, slot: "test", token, leaseMs: 60_000 })

const blockedOf = (ids: ReadonlyArray<string>) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.map(
      sql<{ id: string; blocked: boolean }>`select id, blocked from commerce_jobs where id = any(${ids}::uuid[])`,
      (rows) => ids.map((id) => rows.find((row) => row.id === id)?.blocked)
    ))

const idsOf = ({ jobs }: { readonly jobs: ReadonlyArray<{ readonly id: string }> }) => jobs.map(({ id }) => id)

const begin = Effect.gen(function*() {
  yield* openElsewhere
  const sql = yield* SqlClient.SqlClient
  yield* sql`truncate commerce_jobs, job_keys`
  return newId()
})

it.layer(Repos, { excludeTestServices: true })("jobs of two organizations that want the same key", (it) => {
  it.effect("do not wait for an older one elsewhere, and wake none there", () =>
    Effect.gen(function*() {
      const queue = yield* begin
      const theirs = yield* aJob({ queue, organization: "org_elsewhere", blocked: true, minutesOld: 9 })
      const [first, second] = [
        yield* aJob({ queue, organization: "org_default", minutesOld: 5 }),
        yield* aJob({ queue, organization: "org_default", minutesOld: 4 })
      ]
      const claim = claimOf(queue)
      const taken = yield* (yield* JobClaimRepo).take(claim, { field: "createdAt" })
      assert.deepStrictEqual(idsOf(taken), [first])
      assert.deepStrictEqual(yield* blockedOf([theirs, second]), [true, true])
      const ended = { id: first, status: "succeeded", output: null, error: null, delayMs: 0, counted: true } as const
      yield* (yield* JobSettleRepo).settle(queue, claim.token, [ended])
      assert.deepStrictEqual(yield* blockedOf([theirs, second]), [true, false])
    }))

  it.effect("are claimed for the organization whose turn it is", () =>
    Effect.gen(function*() {
      const queue = yield* begin
      yield* aJob({ queue, organization: "org_elsewhere", minutesOld: 9 })
      const ours = yield* aJob({ queue, organization: "org_default", minutesOld: 5 })
      const taken = yield* (yield* JobClaimRepo).takeFairly(claimOf(queue), "", ["org_elsewhere"])
      assert.deepStrictEqual(idsOf(taken), [ours])
    }))

  it.effect("go on when their own key is free, whoever has it elsewhere", () =>
    Effect.gen(function*() {
      const queue = yield* begin
      const sql = yield* SqlClient.SqlClient
      const theirs = yield* aJob({ queue, organization: "org_elsewhere", blocked: true, minutesOld: 9 })
      const ours = yield* aJob({ queue, organization: "org_default", blocked: true, minutesOld: 5 })
      yield* sql`insert into job_keys (organization_id, concurrency_key, job_id)
        values ('org_elsewhere', ${key}, ${newId()}::uuid)`
      assert.strictEqual(yield* (yield* JobSettleRepo).unpark, 1)
      assert.deepStrictEqual(yield* blockedOf([theirs, ours]), [true, false])
    }))

  it.effect("replace none there", () =>
    Effect.gen(function*() {
      const queue = yield* begin
      yield* aJob({ queue, organization: "org_elsewhere", minutesOld: 9 })
      const ours = yield* aJob({ queue, organization: "org_default", minutesOld: 5 })
      const superseded = [{ organizationId: "org_default", taskSlug: "test/any", concurrencyKey: key }]
      assert.deepStrictEqual(yield* (yield* JobEnqueueRepo).replace(superseded, []), [ours])
    }))
})
