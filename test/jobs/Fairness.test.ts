import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { newId } from "../../src/domain/ids/Id.ts"
import { JobSettings } from "../../src/domain/jobs/JobSettings.ts"
import { JobClaimRepo, jobClaimRepoLayer } from "../../src/layers/jobs/JobClaimRepo.ts"
import { QueueClaims } from "../../src/layers/jobs/WorkerSlot.ts"
import { statementsOf } from "../pricing/Statements.ts"
import { OneConnection } from "./Queue.ts"

const Claims = QueueClaims.layer.pipe(
  Layer.provideMerge(Layer.merge(jobClaimRepoLayer, JobSettings.layerOf({}))),
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
  const repo = yield* JobClaimRepo
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

it.layer(Claims, { excludeTestServices: true, timeout: "120 seconds" })("a flood of one organization", (it) => {
  it.effect("does not keep another one's single job from its turn", () =>
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
    }), 120_000)

  it.effect(
    "costs a claim no more than a few jobs do, with plans made on an empty table and on a full one",
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
      }),
    120_000
  )
})
