import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { inDefault } from "../../../../test/plugins/PluginTablesLayer.ts"
import { plansOf } from "../../../../test/pricing/Statements.ts"
import { freshDatabase } from "../../../../test/support/Postgres.ts"
import { migratePlugins } from "../../kit/install/PluginTables.ts"
import { pluginDatabase } from "../../kit/tables/PluginDatabaseRepo.ts"
import { channelConnector } from "../index.ts"
import { storesOfLinked, unitsToSend } from "../LinkedStockRepo.ts"
import { stores } from "../StoreTables.ts"

/** A store with 20,000 things, of which it sells 200 of ours, and their stock. */
const fill = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`insert into catalog_entities (id, organization_id, type, slug, status, is_visible)
    select gen_random_uuid(), 'org_default', 'product', 'thing-' || n, 'active', true from generate_series(1, 20000) n`
  yield* sql`insert into connected_stores (id, organization_id, provider, store_domain, status, connected_at)
    values (gen_random_uuid(), 'org_default', 'memory', 'https://shop.example', 'connected', now())`
  yield* sql`insert into channel_entity_map
      (id, organization_id, store_id, kind, external_id, entity_id, is_linked, level)
    select gen_random_uuid(), 'org_default', store.id, 'variant', slug, entity.id, slug like 'thing-%00', 7
    from catalog_entities entity cross join connected_stores store`
  yield* sql`insert into warehouses (id, organization_id, name, code)
    values (gen_random_uuid(), 'org_default', 'Dock', 'dock')`
  yield* sql`insert into stock_items (organization_id, sellable_id) select 'org_default', id from catalog_entities`
  yield* sql`insert into stock_levels (id, organization_id, sellable_id, warehouse_id, entity_id, on_hand)
    select gen_random_uuid(), 'org_default', entity.id, place.id, entity.id, 5
    from catalog_entities entity cross join warehouses place where place.code = 'dock'`
  for (const name of ["catalog_entities", "channel_entity_map", "stock_levels", "stock_items"]) {
    yield* sql`analyze ${sql(name)}`
  }
})

describe("statements about linked stock", () => {
  it.live("read the linked units of a store and their levels by their indexes", () =>
    Effect.scoped(Effect.gen(function*() {
      const { url } = yield* freshDatabase
      yield* Effect.gen(function*() {
        const plugin = channelConnector()
        yield* migratePlugins([plugin])
        yield* fill
        const sql = yield* SqlClient.SqlClient
        const db = pluginDatabase({ sql, keyring: undefined }, plugin)
        const [store] = yield* inDefault(db.table(stores).list({}))
        if (store === undefined) return assert.fail("no store")
        const first = "00000000-0000-0000-0000-000000000000"
        assert.lengthOf(yield* inDefault(db.use(unitsToSend)(store, first, 1_000)), 200)
        const [units = ""] = yield* plansOf(inDefault(db.use(unitsToSend)(store, first, 100)))
        const [linked = ""] = yield* plansOf(inDefault(db.use(storesOfLinked)()))
        for (const plan of [units, linked]) {
          assert.match(plan, /Index (Only )?Scan using channel_entity_map_store_id_id_\w+/)
          assert.notMatch(plan, /Seq Scan on (channel_entity_map|stock_levels|catalog_entities)/)
        }
      }).pipe(Effect.provide(PgClient.layer({ url: Redacted.make(url) })))
    })))
})
