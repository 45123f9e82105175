import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { onDatabase } from "../support/Audit.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { startService } from "../support/Service.ts"
import { waitFor } from "../support/waitFor.ts"

const entries = 20_000

/** Much that waits, of two organizations. */
const muchToDo = (url: string) =>
  onDatabase(
    url,
    (sql) =>
      sql`insert into outbox_events (id, organization_id, type, entity_type, entity_id, payload, actor_type, source)
      select gen_random_uuid(), case n % 2 when 0 then 'org_default' else 'org_other' end, 'catalog.update',
        'catalog_entity', 'e', '{}', 'user', 'rest' from generate_series(1, ${entries}::int) n`
  )

const placed = (url: string) =>
  Effect.runPromise(onDatabase(url, (sql) =>
    Effect.map(
      sql<{ count: number }>`select count(*)::int as count from outbox_events where position is not null`,
      ([row]) => row?.count ?? 0
    )))

describe("a relay that is killed in the middle", () => {
  it.live("a killed relay leaves no gap and no duplicate, and another process continues", () =>
    Effect.gen(function*() {
      const { url } = yield* freshDatabase
      yield* muchToDo(url)
      const processes = yield* Effect.forEach([1, 2], () => startService({ databaseUrl: url, role: "runner" }), {
        concurrency: "unbounded"
      })
      yield* Effect.promise(() => waitFor("the first batches", async () => (await placed(url)) > 0))
      for (const { kill } of processes) kill("SIGKILL")
      yield* Effect.promise(() => Promise.all(processes.map(({ ended }) => ended)))
      const between = yield* Effect.promise(() => placed(url))
      assert.isBelow(between, entries, "killed too late to have been in the middle")
      yield* startService({ databaseUrl: url, role: "runner" })
      yield* Effect.promise(() => waitFor("all entries", async () => (await placed(url)) === entries))
      const flaws = yield* onDatabase(url, (sql) =>
        sql`select organization_id from outbox_events group by organization_id
          having count(distinct position) <> count(*) or max(position) <> count(*) or min(position) <> 1
            or count(distinct event_sequence) <> count(*) or max(event_sequence) <> count(*)`)
      assert.deepStrictEqual(flaws, [])
    }))
})
