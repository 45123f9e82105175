import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { randomInt } from "node:crypto"
import { fileURLToPath } from "node:url"
import { onDatabase } from "../../../../test/support/Audit.ts"
import { eventually } from "../../../../test/support/Eventually.ts"
import { freshDatabase } from "../../../../test/support/Postgres.ts"
import { placeOf } from "../../../../test/support/Service.ts"

const program = fileURLToPath(new URL("./serveStores.ts", import.meta.url))
const products = 5_000
const kills = 5

const mapped = (url: string) =>
  onDatabase(url, (sql) =>
    Effect.map(
      sql`select count(*)::int4 as n from channel_entity_map where kind = 'entity'`,
      ([row]) => Number(row?.["n"] ?? 0)
    ))

it.live("an import whose process is killed five times has each product once", () =>
  Effect.gen(function*() {
    const { url } = yield* freshDatabase
    const place = yield* placeOf({ databaseUrl: url, program })
    const answer = yield* Effect.promise(() =>
      fetch(`${place.service().url}/api/channels/stores`, {
        method: "POST",
        headers: { "x-api-key": "dev-admin-key", "content-type": "application/json" },
        body: JSON.stringify({
          provider: "memory",
          storeDomain: "https://shop.example",
          credentials: { key: "right-key-1" }
        })
      })
    )
    assert.strictEqual(answer.status, 201)
    for (let kill = 1; kill <= kills; kill++) {
      const next = Math.min((yield* mapped(url)) + randomInt(1, 600), products)
      yield* eventually("products between the kills", Effect.map(mapped(url), (now) => now >= next))
      yield* place.kill
      yield* place.replace
    }
    yield* eventually(
      "the import is over",
      onDatabase(url, (sql) =>
        Effect.map(sql`select 1 from channel_runs where finished_at is not null and phases = '[]'`, (rows) =>
          rows.length === 1))
    )
    const [found] = yield* onDatabase(url, (sql) =>
      sql`select
        (select (last_report->>'imported')::int4 from channel_runs) as imported,
        (select (last_report->>'inventoryUpdated')::int4 from channel_runs) as "inventoryUpdated",
        (select count(*) from catalog_entities)::int4 as entities,
        (select count(*) from variants)::int4 as variants,
        (select count(*) from channel_entity_map)::int4 as mapped,
        (select count(*) from outbox_events where type = 'catalog.create')::int4 as recorded,
        (select count(*) from stock_movements)::int4 as movements,
        (select sum(on_hand) from stock_levels)::int4 as units`)
    assert.deepStrictEqual(found, {
      imported: products,
      inventoryUpdated: products,
      entities: products,
      variants: products,
      mapped: 2 * products,
      recorded: products,
      movements: products,
      units: 5 * products
    })
  }).pipe(Effect.scoped))
