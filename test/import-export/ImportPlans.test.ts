import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { CatalogSettings } from "../../src/domain/catalog/CatalogSettings.ts"
import { SellableRepo } from "../../src/domain/catalog/SellableRepo.ts"
import { Sellables } from "../../src/domain/catalog/Sellables.ts"
import { fieldReads } from "../../src/domain/import-export/catalog/CatalogImportRepo.ts"
import { brandImport, categoryImport } from "../../src/domain/import-export/catalog/GroupImport.ts"
import { productImport } from "../../src/domain/import-export/catalog/ProductImport.ts"
import { customerImport } from "../../src/domain/import-export/CustomerImport.ts"
import { ExportRepo } from "../../src/domain/import-export/ExportRepo.ts"
import { ExternalImportRepo } from "../../src/domain/import-export/external/ExternalImportRepo.ts"
import { ImportRepo } from "../../src/domain/import-export/ImportRepo.ts"
import { orderImport } from "../../src/domain/import-export/orders/OrderImport.ts"
import { LineRecord } from "../../src/domain/import-export/orders/OrderRecord.ts"
import { priceImport } from "../../src/domain/import-export/PriceImport.ts"
import { stockImport } from "../../src/domain/import-export/StockImport.ts"
import type { BatchContext, Upsert } from "../../src/domain/import-export/Upsert.ts"
import { Hooks } from "../../src/domain/platform/hooks/Hooks.ts"
import { ImportId } from "../../src/domain/platform/ids/Id.ts"
import { CurrencyCode } from "../../src/domain/platform/money/Money.ts"
import { importExportRepos } from "../../src/layers/modules/import-export.ts"
import { asShopkeeper } from "../catalog/CatalogServices.ts"
import { plansOf, statementsOf } from "../pricing/Statements.ts"
import { TestDatabase } from "../support/Postgres.ts"

const many = 20_000

const each = `from generate_series(1, ${many}) n`

const owner = "case n % 2 when 0 then 'org_default' else 'org_other' end"

/** Two organizations with 10,000 of everything each, without search triggers. */
const seedMany = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`insert into organizations (id, slug, name) values ('org_other', 'other', 'Other')`
  yield* sql`set session_replication_role = replica`
  for (
    const text of [
      `insert into catalog_entities (id, organization_id, type, slug, status, is_visible)
        select md5('e' || n)::uuid, ${owner}, 'product', 's-' || n, 'active', true ${each}`,
      `insert into entity_attributes (id, organization_id, entity_id, locale, title)
        select md5('a' || n)::uuid, ${owner}, md5('e' || n)::uuid, 'en', 'T' ${each}`,
      `insert into variants (id, organization_id, entity_id, sku, combination)
        select md5('v' || n)::uuid, ${owner}, md5('e' || n)::uuid, 'k-' || n, '' ${each}`,
      `insert into categories (id, organization_id, slug) select md5('c' || n)::uuid, ${owner}, 'c-' || n ${each}`,
      `insert into brands (id, organization_id, slug, display_name)
        select md5('b' || n)::uuid, ${owner}, 'b-' || n, 'B' ${each}`,
      `insert into entity_categories (organization_id, entity_id, category_id)
        select ${owner}, md5('e' || n)::uuid, md5('c' || n)::uuid ${each}`,
      `insert into entity_brands (organization_id, entity_id, brand_id)
        select ${owner}, md5('e' || n)::uuid, md5('b' || n)::uuid ${each}`,
      `insert into option_types (id, organization_id, entity_id, name, display_name)
        select md5('t' || n)::uuid, ${owner}, md5('e' || n)::uuid, 'Size', 'Size' ${each}`,
      `insert into option_values (id, organization_id, option_type_id, value, display_value)
        select md5('x' || n)::uuid, ${owner}, md5('t' || n)::uuid, 'S', 'S' ${each}`,
      `insert into variant_option_values (organization_id, variant_id, option_value_id)
        select ${owner}, md5('v' || n)::uuid, md5('x' || n)::uuid ${each}`,
      `insert into entity_field_schemas (organization_id, entity_type)
        values ('org_default', 'product'), ('org_other', 'product')`,
      `insert into entity_field_definitions (id, organization_id, entity_type, name, label, kind, is_required, is_unique,
          is_filterable, is_public, rules)
        select md5(o || k)::uuid, o, 'product', k, k, k, false, true, false, true, '{}'
        from unnest(array['org_default', 'org_other']) o, unnest(array['text', 'reference']) k`,
      `insert into entity_field_values (organization_id, entity_id, definition_id, value, unique_key, reference_id)
        select ${owner}, md5('e' || n)::uuid, md5(${owner} || k)::uuid, to_jsonb(v), v, r
        from generate_series(1, ${many}) n, lateral (values ('text', 'u-' || n, null),
          ('reference', md5('e' || n)::uuid::text, md5('e' || n)::uuid)) x(k, v, r)`,
      `insert into entity_media (organization_id, entity_id, media_asset_id, role)
        select ${owner}, md5('e' || n)::uuid, md5('m' || n)::uuid, 'gallery' ${each}`,
      `insert into prices (id, organization_id, entity_id, currency, amount)
        select md5('p' || n)::uuid, ${owner}, md5('e' || n)::uuid, 'USD', 1 ${each}`,
      `insert into customers (id, organization_id, user_id, email)
        select md5('u' || n)::uuid, ${owner}, 'u' || n, 'u' || n || '@home.example' ${each}`,
      `insert into customer_addresses (id, organization_id, customer_id, type, first_name, last_name, line1, city,
          country) select md5('d' || n)::uuid, ${owner}, md5('u' || n)::uuid, 'shipping', 'A', 'B', '1', 'T', 'NL' ${each}`,
      `insert into warehouses (id, organization_id, name, code) values (md5('w')::uuid, 'org_default', 'W', 'W')`,
      `insert into stock_items (organization_id, sellable_id) select ${owner}, md5('v' || n)::uuid ${each}`,
      `insert into stock_levels (id, organization_id, sellable_id, warehouse_id, entity_id, variant_id)
        select md5('l' || n)::uuid, ${owner}, md5('v' || n)::uuid, md5('w')::uuid, md5('e' || n)::uuid,
          md5('v' || n)::uuid ${each}`,
      `insert into orders (id, organization_id, order_number, status, currency, subtotal, tax_total, shipping_total,
          discount_total, grand_total, placed_at)
        select md5('o' || n)::uuid, ${owner}, 'ORD-2026-' || lpad(n::text, 6, '0'), 'pending', 'USD', 1, 0, 0, 0, 1,
          now() - n * interval '1 minute' ${each}`,
      `insert into order_lines (id, organization_id, order_id, position, entity_id, entity_type, title, quantity,
          unit_price, total_price)
        select md5('ol' || n)::uuid, ${owner}, md5('o' || n)::uuid, 0, md5('e' || n)::uuid, 'product', 'T', 1, 1, 1
        ${each}`,
      `insert into order_returns (id, organization_id, order_id, number, status, photos, created_at, updated_at)
        select md5('b' || n)::uuid, ${owner}, md5('o' || n)::uuid, 'R-' || n, 'requested', '[]', now(), now() ${each}`,
      `insert into order_return_lines (organization_id, return_id, order_line_id, quantity)
        select ${owner}, md5('b' || n)::uuid, md5('ol' || n)::uuid, 1 ${each}`,
      `insert into imports (id, organization_id, kind, format, dry_run, state, actor, completed_at)
        select md5('i' || n)::uuid, ${owner}, 'catalog', 'csv', false, 'completed', '{}', now() ${each}`,
      `insert into import_refusals (organization_id, import_id, row, line, issues)
        select 'org_default', md5('i2')::uuid, n, n, '[]' ${each}`
    ]
  ) yield* sql.unsafe(text)
  yield* sql`set session_replication_role = default`
  yield* sql`analyze`
})

const numbers = (count: number) => Array.from({ length: count }, (_, n) => n * 2 + 2)

/** No table of records may be scanned; those of a handful of rows may. */
const expectIndexes = Effect.fnUntraced(function*<A, E, R>(name: string, effect: Effect.Effect<A, E, R>) {
  for (const plan of yield* plansOf(effect)) {
    assert.notMatch(
      plan,
      /Seq Scan on (catalog_entities|entity_(?!field_(definitions|schemas))|variant|option_|categories|brands|prices|customers|customer_addresses|stock_|orders|order_|imports|import_)/,
      `${name}\n${plan}`
    )
  }
})

const of: BatchContext = {
  organizationId: "org_default",
  currency: null,
  dryRun: false,
  pictures: false,
  warehouse: null,
  now: new Date(),
  source: null
}

const USD = CurrencyCode.make("USD")

const Services = Layer.merge(importExportRepos, Layer.provideMerge(Sellables.layer, SellableRepo.layer)).pipe(
  Layer.provideMerge(Hooks.layerNone),
  Layer.provideMerge(CatalogSettings.layerOf({})),
  Layer.provideMerge(TestDatabase)
)

/** Holds the upsert of a kind to indexes, and to the same number of statements for a record and for 500. */
const expectConstant = <R>(name: string, statements: number, upsert: Upsert<R>, recordOf: (n: number) => R) =>
  Effect.gen(function*() {
    for (const count of [1, 500]) {
      const sent = yield* statementsOf(upsert(numbers(count).map(recordOf), of))
      assert.lengthOf(sent, statements, `${name} of ${count}`)
    }
    yield* expectIndexes(name, upsert(numbers(500).map(recordOf), of))
  })

describe("among 20,000 of everything", () => {
  it.layer(Services)((it) => {
    it.effect("a batch finds its records by indexes, in a constant number of statements", () =>
      Effect.gen(function*() {
        yield* seedMany
        let change = 0
        yield* expectConstant("catalog", 9, yield* productImport, (n) => ({
          slug: `s-${n}`,
          metadata: { change: change++ },
          customFields: { text: `u-${n}` },
          categories: [`c-${n}`],
          brands: [`b-${n}`],
          variants: [{ sku: `k-${n}` }]
        }))
        const fields = yield* fieldReads
        const referring = numbers(500).map((n) => ({ type: "product", fields: { reference: `s-${n}` } }))
        yield* expectIndexes("fields", fields(referring))
        const external = yield* ExternalImportRepo
        const names = (prefix: string) => numbers(500).map((n) => `${prefix}-${n}`)
        const ids = numbers(500).map(() => crypto.randomUUID())
        yield* expectIndexes("external", external.known({ ids, slugs: names("s"), skus: names("k") }))
        yield* expectConstant("categories", 4, yield* categoryImport, (n) => ({
          slug: `c-${n}`,
          parent: `c-${n + 2}`,
          sortOrder: change++
        }))
        yield* expectConstant("brands", 2, yield* brandImport, (n) => ({ slug: `b-${n}`, metadata: { n: change++ } }))
        yield* expectConstant("prices", 4, yield* priceImport, (n) => ({
          slug: `s-${n}`,
          currency: USD,
          amount: change++
        }))
        yield* expectConstant("customers", 6, yield* customerImport, (n) => ({
          email: `U${n}@home.example`,
          firstName: `${change++}`,
          groups: ["all"]
        }))
        yield* expectConstant("stock", 7, yield* stockImport, (n) => ({ sku: `k-${n}`, onHand: change++ }))
        yield* expectConstant("orders", 5, yield* orderImport, (n) => ({
          orderNumber: `ORD-2026-${String(n).padStart(6, "0")}`,
          status: "pending" as const,
          placedAt: new Date(0),
          email: `U${n}@home.example`,
          currency: USD,
          grandTotal: 1,
          lineItems: [Schema.decodeSync(LineRecord)({ sku: `k-${n}`, title: "T", quantity: 1, unitPrice: 1 })]
        }))
      }).pipe(asShopkeeper))

    it.effect("exports and reports read page after page along an index", () =>
      Effect.gen(function*() {
        const pages = yield* ExportRepo
        const firstId = "00000000-0000-0000-0000-000000000000"
        yield* expectIndexes("catalog", pages.page("catalog", ["s-5"], 250))
        yield* expectIndexes("references", pages.page("catalog", ["s-5"], 250, { ranks: {}, rank: undefined }))
        yield* expectIndexes("brands", pages.page("brands", ["b-5"], 250))
        yield* expectIndexes("prices", pages.page("prices", ["s-5"], 250))
        yield* expectIndexes("stock", pages.page("stock", ["s-5"], 250))
        yield* expectIndexes("customers", pages.page("customers", ["u5", firstId], 250))
        yield* expectIndexes("orders", pages.page("orders", ["-infinity", firstId], 250))
        const imports = yield* ImportRepo
        yield* expectIndexes("stalled", imports.stalled(15, 100))
        yield* expectIndexes(
          "refusals",
          imports.refusalsAfter(ImportId.make("7dd9cb4e-5ae1-4f3e-8b7c-000000000000"), 10, 500)
        )
      }).pipe(asShopkeeper))
  })
})
