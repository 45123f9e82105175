import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { CurrentActor, systemActor } from "../../src/domain/platform/access/Actor.ts"
import { ImportId } from "../../src/domain/platform/ids/Id.ts"
import { JobRunner } from "../../src/domain/platform/jobs/Jobs.ts"
import { Tasks } from "../../src/domain/platform/tasks/Task.ts"
import { ImportRuns } from "../../src/workflows/import-export/ImportRuns.ts"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { api, asAdmin, live, testAppLayer } from "../support/TestApp.ts"
import { counts, jsonl, upload } from "./ImportFixtures.ts"

const resting = testAppLayer({ importExport: { batchRows: 2 }, jobs: { autorun: { enabled: false } } })

const withRestingApp = layer(resting, live)

const products = (count: number, prefix: string) =>
  jsonl(...Array.from({ length: count }, (_, n) => ({ slug: `${prefix}-${n}`, type: "product" })))

const sent = Effect.fnUntraced(function*(count: number, prefix: string) {
  return ImportId.make((yield* upload(products(count, prefix), { query: "format=jsonl" })).text("data.id"))
})

const asService = Effect.provideService(CurrentActor, systemActor("org_default"))

const jobsOf = (id: string) =>
  onDatabase((sql) =>
    sql<{ n: number }>`select count(*)::int4 as n from commerce_jobs where input->>'importId' = ${id}`
  ).pipe(Effect.map(([row]) => row?.n))

withRestingApp("an import", (it) => {
  it.effect("processed by several workers at once is processed once", () =>
    Effect.gen(function*() {
      const id = yield* sent(31, "shared")
      const runs = yield* ImportRuns
      yield* Effect.all([runs.run(id), runs.run(id), runs.run(id)], {
        concurrency: "unbounded"
      }).pipe(asService)
      const done = yield* api("GET", `/api/imports/${id}`, { as: asAdmin })
      assert.deepStrictEqual([done.text("data.state"), ...counts(done)], ["completed", 31, 0, 0, 0])
      const [recorded] = yield* onDatabase((sql) =>
        sql<{ n: number }>`select count(*)::int4 as n from outbox_events
          where type = 'catalog.create' and payload->>'slug' like 'shared-%'`
      )
      assert.strictEqual(recorded?.n, 31)
    }))

  it.effect("that is cancelled stops after the current batch", () =>
    Effect.gen(function*() {
      const id = yield* sent(9, "stopped")
      const runs = yield* ImportRuns
      const cancel = Effect.asVoid(api("POST", `/api/imports/${id}/cancel`, { as: asAdmin }))
      const context = yield* Effect.context<Effect.Services<typeof cancel>>()
      yield* runs.run(id, () => Effect.provideContext(cancel, context)).pipe(asService)
      const done = yield* api("GET", `/api/imports/${id}`, { as: asAdmin })
      assert.deepStrictEqual([done.text("data.state"), done.number("data.read")], ["cancelled", 2])
      assert.isUndefined(yield* asService(runs.run(ImportId.make(crypto.randomUUID()))))
    }))

  it.effect("whose job was lost gets another one, and an ended one is deleted after its retention", () =>
    Effect.gen(function*() {
      const id = yield* sent(3, "lost")
      yield* onDatabase((sql) => sql`delete from commerce_jobs where input->>'importId' = ${id}`)
      const tasks = yield* Tasks
      const runner = yield* JobRunner
      const ask = (slug: string) =>
        Effect.andThen(
          onDatabase((sql) =>
            sql`insert into commerce_jobs (id, organization_id, queue, task_slug, max_attempts)
              values (gen_random_uuid(), 'org_default', 'upkeep', ${slug}, 1)`
          ),
          runner.run({ queue: "upkeep", limit: 10 })
        )
      assert.isDefined(tasks.find("imports/revive"))
      yield* ask("imports/revive")
      assert.strictEqual(yield* jobsOf(id), 0)
      yield* onDatabase((sql) =>
        sql`update imports set updated_at = now() - interval '16 minutes' where id = ${id}::uuid`
      )
      yield* ask("imports/revive")
      assert.strictEqual(yield* jobsOf(id), 1)
      // Imports of an organization follow each other: those of the tests before come first.
      yield* Effect.repeat(runner.run({ queue: "imports", limit: 10 }), { times: 5 })
      const done = yield* api("GET", `/api/imports/${id}`, { as: asAdmin })
      assert.deepStrictEqual([done.text("data.state"), ...counts(done)], ["completed", 3, 0, 0, 0])
      yield* ask("retention/imports")
      assert.strictEqual((yield* api("GET", `/api/imports/${id}`, { as: asAdmin })).status, 200)
      yield* onDatabase((sql) =>
        sql`update imports set completed_at = now() - interval '31 days' where id = ${id}::uuid`
      )
      yield* ask("retention/imports")
      assert.strictEqual((yield* api("GET", `/api/imports/${id}`, { as: asAdmin })).status, 404)
      const left = yield* onDatabase((sql) => sql`select 1 from import_rows where import_id = ${id}::uuid`)
      assert.lengthOf(left, 0)
    }))

  it.effect("that cannot continue fails at its last try, and finished batches stay", () =>
    Effect.gen(function*() {
      const id = yield* sent(5, "given-up")
      yield* onDatabase((sql) =>
        sql`create function refuse_counting() returns trigger language plpgsql as $$
          begin raise exception 'no'; end $$`.pipe(
          Effect.andThen(
            sql`create trigger refuse_counting before update on imports for each row
              when (new.read > 3 and new.id = ${sql.literal(`'${id}'`)}::uuid) execute function refuse_counting()`
          ),
          Effect.andThen(sql`update commerce_jobs set max_attempts = 1 where input->>'importId' = ${id}`)
        )
      )
      const runner = yield* JobRunner
      yield* Effect.repeat(runner.run({ queue: "imports", limit: 10 }), { times: 5 })
      const done = yield* api("GET", `/api/imports/${id}`, { as: asAdmin })
      assert.deepStrictEqual(
        [done.text("data.state"), done.number("data.created"), done.text("data.error")],
        ["failed", 3, "It was given up after 1 tries."]
      )
    }))
})
