import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { newId } from "../../src/domain/ids/Id.ts"
import { JobSettings } from "../../src/domain/jobs/JobSettings.ts"
import { JobClaimRepo, jobClaimRepoLayer } from "../../src/layers/jobs/JobClaimRepo.ts"
import { QueueClaims } from "../../src/layers/jobs/WorkerSlot.ts"
import { TestDatabase } from "../support/Postgres.ts"

/** What a claim that begins at the first entry takes, in ms, and which claims there were. */
const seen = { costMs: 0, claims: new Array<"whole" | "from the last one on" | "fair">() }

/** The real claims, noted, on a queue whose old entries make some of them slow. */
const NotedClaims = Layer.effect(
  JobClaimRepo,
  Effect.map(JobClaimRepo, (repo) => {
    const slowly = TestClock.adjust(0).pipe(Effect.andThen(Effect.suspend(() => TestClock.adjust(seen.costMs))))
    return JobClaimRepo.of({
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
).pipe(Layer.provide(jobClaimRepoLayer))

const Claims = QueueClaims.layer.pipe(
  Layer.provideMerge(Layer.merge(NotedClaims, JobSettings.layerOf({}))),
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
  it.effect("is looked through from its beginning once a second by all slots of a process together", () =>
    Effect.gen(function*() {
      const { fair, whole } = yield* claimsOf(3, 0)
      assert.deepStrictEqual([whole, fair > 10 && fair < 25], [3, true])
    }))

  it.effect("is looked through less often while that is slow, and so for jobs of others", () =>
    Effect.gen(function*() {
      // A tenth of a second each: a twentieth of the time is one in two seconds.
      const { fair, whole } = yield* claimsOf(10, 100)
      assert.isTrue(whole >= 4 && whole <= 6 && fair >= 4 && fair <= 6, `${whole} whole claims, ${fair} fair ones`)
    }))

  it.effect("a claim that finds nothing behind the last one knows when the next may start at the beginning", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* sql`truncate commerce_jobs`
      seen.costMs = 100
      yield* TestClock.adjust("10 seconds")
      yield* jobs(5)
      assert.strictEqual((yield* claim(10)).jobs.length, 5)
      // A job of a transaction that was open for an hour: no claim behind the last one sees it.
      yield* sql`insert into commerce_jobs (id, organization_id, task_slug, created_at)
        values (gen_random_uuid(), 'org_default', 'test/late', now() - interval '1 hour')`
      const early = yield* claim(10)
      assert.deepStrictEqual([early.empty, early.wholeInMs], [true, 2_000])
      yield* TestClock.adjust(early.wholeInMs)
      assert.strictEqual((yield* claim(10)).jobs.length, 1)
    }))

  it.effect("is looked through from its beginning by every claim while that is quick and jobs are few", () =>
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
