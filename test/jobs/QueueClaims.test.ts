import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import { JobSettings } from "../../src/domain/platform/tasks/JobSettings.ts"
import { JobClaimStatements } from "../../src/layers/jobs/JobClaimStatements.ts"
import { JobQueueRepo } from "../../src/layers/jobs/JobQueueRepo.ts"
import { QueueClaims } from "../../src/layers/jobs/WorkerSlot.ts"
import { statementsOf } from "../pricing/Statements.ts"
import { TestDatabase } from "../support/Postgres.ts"
import { OneConnection } from "./Queue.ts"

/** What a claim that begins at the first entry takes, in ms, and which claims there were. */
const seen = { costMs: 0, claims: new Array<"whole" | "from the last one on" | "fair">() }

/** The real claims, noted, on a queue whose old entries make some of them slow. */
const NotedClaims = Layer.effect(
  JobClaimStatements,
  Effect.map(JobClaimStatements, (repo) => {
    const slowly = TestClock.adjust(0).pipe(Effect.andThen(Effect.suspend(() => TestClock.adjust(seen.costMs))))
    return JobClaimStatements.of({
      ...repo,
      take: (claim, order, from) => {
        seen.claims.push(from === undefined ? "whole" : "from the last one on")
        return Effect.tap(repo.take(claim, order, from), () => from === undefined ? slowly : Effect.void)
      },
      takeFairly: (claim, after, served) => {
        seen.claims.push("fair")
        return Effect.tap(repo.takeFairly(claim, after, served), () => slowly)
      }
    })
  })
).pipe(Layer.provide(JobClaimStatements.layer))

const Claims = QueueClaims.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(NotedClaims, JobQueueRepo.layer, JobSettings.layerOf({}))),
  Layer.provideMerge(TestDatabase)
)

const jobs = (count: number) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) =>
      sql`insert into commerce_jobs (id, organization_id, task_slug)
        select gen_random_uuid(), 'org_default', 'test/none' from generate_series(1, ${count}::int4)`
  )

const claim = (limit: number) =>
  Effect.flatMap(
    QueueClaims,
    (claims) => claims.take({ queue: "default", slot: newId(), token: newId(), leaseMs: 60_000, limit })
  )

/** How many of the claims of so many seconds, one every 50 ms, were of which kind. */
const claimsOf = Effect.fnUntraced(function*(seconds: number, costMs: number) {
  seen.claims = []
  seen.costMs = costMs
  yield* jobs(10 * seconds * 20)
  for (let n = 0; n < seconds * 20; n++) {
    yield* claim(5)
    yield* TestClock.adjust(50)
  }
  return {
    whole: seen.claims.filter((kind) => kind === "whole").length,
    fair: seen.claims.filter((kind) => kind === "fair").length
  }
})

it.layer(Claims, { timeout: "60 seconds" })("a queue that is never empty", (it) => {
  it.effect("all slots of a process together read a full queue from its beginning once a second", () =>
    Effect.gen(function*() {
      const { fair, whole } = yield* claimsOf(3, 0)
      assert.deepStrictEqual([whole, fair > 10 && fair < 25], [3, true])
    }))

  it.effect("claims read a queue less often from its beginning, and for other organizations, while that is slow", () =>
    Effect.gen(function*() {
      // A tenth of a second each: a twentieth of the time is one in two seconds.
      const { fair, whole } = yield* claimsOf(10, 100)
      assert.isTrue(whole >= 4 && whole <= 6 && fair >= 4 && fair <= 6, `${whole} whole claims, ${fair} fair ones`)
    }))

  it.effect("a claim that finds nothing behind the last one knows when the next may start at the beginning", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      // However long one took, jobs that only such a claim sees wait for seconds.
      for (const [costMs, restMs] of [[100, 2_000], [3_600_000, 5_000]] as const) {
        yield* sql`truncate commerce_jobs`
        seen.costMs = costMs
        yield* TestClock.adjust("10 seconds")
        yield* jobs(5)
        assert.strictEqual((yield* claim(10)).jobs.length, 5)
        // A job of a transaction that was open for an hour: no claim behind the last one sees it.
        yield* sql`insert into commerce_jobs (id, organization_id, task_slug, created_at)
          values (gen_random_uuid(), 'org_default', 'test/late', now() - interval '1 hour')`
        const early = yield* claim(10)
        assert.deepStrictEqual([early.empty, early.wholeInMs], [true, restMs])
        yield* TestClock.adjust(early.wholeInMs)
        assert.strictEqual((yield* claim(10)).jobs.length, 1)
      }
    }))

  it.effect("every claim reads a queue from its beginning while that is fast and jobs are few", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* sql`truncate commerce_jobs`
      seen.costMs = 20
      yield* TestClock.adjust("10 seconds")
      yield* jobs(5)
      assert.strictEqual((yield* claim(10)).jobs.length, 5)
      yield* sql`insert into commerce_jobs (id, organization_id, task_slug, created_at)
        values (gen_random_uuid(), 'org_default', 'test/late', now() - interval '1 hour')`
      const next = yield* claim(10)
      assert.deepStrictEqual([next.jobs.length, next.wholeInMs], [1, 0])
    }))
})

const PlainClaims = QueueClaims.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(JobClaimStatements.layer, JobQueueRepo.layer, JobSettings.layerOf({}))),
  Layer.provideMerge(OneConnection)
)

const fill = (organization: string, count: number) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) =>
      sql`insert into commerce_jobs (id, organization_id, task_slug, created_at, wait_until)
      select gen_random_uuid(), ${organization}, 'test/none', now() - (${count}::int4 - n) * interval '1 ms',
        case when n % 10 = 0 then now() + interval '1 day' end from generate_series(1, ${count}::int4) n`
  )

/** Shared buffers that a claim touches, rolled back after it was looked at. */
const touched = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const repo = yield* JobClaimStatements
  const claim = { queue: "default", limit: 100, slot: "s", token: newId(), leaseMs: 1_000 }
  const statements = yield* statementsOf(
    Effect.exit(sql.withTransaction(Effect.andThen(
      Effect.all([repo.take(claim, { field: "createdAt" }), repo.takeFairly(claim, "", [])]),
      Effect.die("rolled back")
    )))
  )
  const plans: Array<string> = []
  for (const [text, parameters] of statements.filter(([text]) => text.startsWith("with recursive"))) {
    const explained = sql.withTransaction(Effect.flatMap(
      sql.unsafe<{ readonly "QUERY PLAN": string }>(`explain (analyze, buffers) ${text}`, parameters),
      (rows) => Effect.fail(rows.map((row) => row["QUERY PLAN"]).join("\n"))
    ))
    plans.push(String(yield* Effect.flip(explained)))
  }
  return plans.map((plan) => ({ plan, pages: Number(/shared hit=(\d+)/.exec(plan)?.[1] ?? 0) }))
})

it.layer(PlainClaims, { excludeTestServices: true, timeout: "120 seconds" })("a flood of one organization", (it) => {
  it.effect("a flood of one organization does not delay the single job of another", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* fill("org_flood", 100_000)
      yield* sql`insert into commerce_jobs (id, organization_id, task_slug) values
        (gen_random_uuid(), 'org_small', 'test/none'), (gen_random_uuid(), 'org_tiny', 'test/none')`
      const claims = yield* QueueClaims
      const claim = claims.take({ queue: "default", slot: "s", token: newId(), leaseMs: 60_000, limit: 100 })
      const first = yield* claim
      assert.deepStrictEqual(new Set(first.jobs.map(({ organizationId }) => organizationId)), new Set(["org_flood"]))
      const second = yield* claim
      assert.strictEqual(second.jobs.length, 100)
      assert.sameMembers(
        second.jobs.map(({ organizationId }) => organizationId).filter((name) => name !== "org_flood"),
        ["org_small", "org_tiny"]
      )
      yield* sql`truncate commerce_jobs`
    }))

  it.effect(
    "a claim in a flood costs no more than with a few jobs, with plans made on an empty and on a full table",
    () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        yield* fill("org_few", 200)
        const few = yield* touched
        yield* fill("org_flood", 100_000)
        const fresh = yield* touched
        yield* sql`vacuum analyze commerce_jobs`
        const many = yield* touched
        assert.deepStrictEqual([few.length, fresh.length, many.length], [2, 2, 2])
        for (const [n, { plan, pages }] of [...fresh, ...many].entries()) {
          assert.notMatch(plan, /Seq Scan on commerce_jobs/)
          // A claim of a hundred writes a hundred rows and their index entries; it walks no more of the table.
          assert.isBelow(pages, 4 * (few[n % 2]?.pages ?? 0) + 500, plan)
        }
      })
  )
})
