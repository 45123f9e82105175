import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { onDatabase } from "../support/Audit.ts"
import { eventually } from "../support/Eventually.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { startService } from "../support/Service.ts"

const records = 4_000

const file = Array.from({ length: records }, (_, n) =>
  JSON.stringify({
    slug: `product-${n}`,
    type: "product",
    status: "active",
    attributes: [{ title: `Product ${n}` }],
    variants: [{ sku: `SKU-${n}` }]
  })).join("\n")

interface Progress {
  readonly read: number
  readonly state: string
  readonly created: number
}

const progressOf = (url: string) =>
  onDatabase(url, (sql) => Effect.map(sql<Progress>`select read, state, created from imports`, ([row]) => row))

it.live("an import whose process is killed ends exactly in another one", () =>
  Effect.gen(function*() {
    const { url } = yield* freshDatabase
    const first = yield* startService({ databaseUrl: url })
    const answer = yield* Effect.promise(() =>
      fetch(`${first.url}/api/imports?format=jsonl`, {
        method: "POST",
        headers: { "x-api-key": "dev-admin-key", "content-type": "application/x-ndjson" },
        body: file
      })
    )
    assert.strictEqual(answer.status, 202)
    const cut = yield* eventually(
      "a batch is done",
      Effect.map(progressOf(url), (found) => found !== undefined && found.read > 0 ? found : undefined)
    )
    first.kill("SIGKILL")
    yield* Effect.promise(() => first.ended)
    assert.isBelow(cut.read, records)
    yield* startService({ databaseUrl: url })
    yield* eventually(
      "the import is over",
      Effect.map(progressOf(url), (found) => found?.state === "completed")
    )
    const [found] = yield* onDatabase(url, (sql) =>
      sql<Record<string, number>>`select
        (select created from imports)::int4 as created,
        (select count(*) from catalog_entities)::int4 as entities,
        (select count(*) from variants)::int4 as variants,
        (select count(*) from outbox_events where type = 'catalog.create')::int4 as recorded,
        (select count(*) from search_documents)::int4 as found`)
    assert.deepStrictEqual(found, {
      created: records,
      entities: records,
      variants: records,
      recorded: records,
      found: records
    })
  }).pipe(Effect.scoped), 240_000)
