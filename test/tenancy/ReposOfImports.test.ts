import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { brands } from "../../src/domain/catalog/brands/BrandRepo.ts"
import { BatchRepo, type Work } from "../../src/domain/import-export/BatchRepo.ts"
import { categoryReads, fieldReads, productReads } from "../../src/domain/import-export/catalog/CatalogImportRepo.ts"
import { ExportRepo, exportStart } from "../../src/domain/import-export/ExportRepo.ts"
import type { ImportOptions } from "../../src/domain/import-export/Import.ts"
import { Kind } from "../../src/domain/import-export/Import.ts"
import { ImportRepo } from "../../src/domain/import-export/ImportRepo.ts"
import { orderReads } from "../../src/domain/import-export/orders/OrderImportRepo.ts"
import { RowBatchRepo } from "../../src/domain/platform/batching/RowBatchRepo.ts"
import type { MediaAssetId } from "../../src/domain/platform/ids/Id.ts"
import { importExportRepos } from "../../src/layers/modules/import-export.ts"
import { TestDatabase } from "../support/Postgres.ts"
import { asAnother, asOwner, openAnother, whileLocked } from "./AnotherTenant.ts"

const Repos = Layer.provideMerge(importExportRepos, TestDatabase)

const options: ImportOptions = {
  kind: "catalog",
  format: "jsonl",
  fileName: null,
  dryRun: false,
  currency: null,
  warehouse: null
}

const row = { line: 1, key: null, text: "{}", problem: null }

const issues = [{ path: "", message: "no", code: "invalid" }]

const refusing: Work = (rows) =>
  Effect.succeed({
    results: rows.map(({ line, row }) => ({ row, line, key: "k", result: { _tag: "refused" as const, issues } })),
    afterCommit: Effect.void
  })

/** Rows that refer to one another; those of another tenant are below the owner's. */
const things = (store: string, name: string): ReadonlyArray<string> => {
  const id = (what: string) => `md5('${what}')::uuid`
  const own = (what: string) => `md5('${what}${name}')::uuid`
  return [
    `insert into entity_attributes (id, organization_id, entity_id, locale, title)
      values (${own("words")}, '${store}', ${id("entity")}, 'l${name}', 'T${name}')`,
    `insert into categories (id, organization_id, slug, parent_id)
      values (${own("category")}, '${store}', 'c${name}', ${name === "1" ? "null" : id("category1")})`,
    `insert into brands (id, organization_id, slug, display_name) values (${
      own("brand")
    }, '${store}', 'b${name}', 'B')`,
    `insert into entity_categories values ('${store}', ${id("entity")}, ${own("category")}, 0)`,
    `insert into entity_brands values ('${store}', ${id("entity")}, ${own("brand")}, 0)`,
    `insert into option_types (id, organization_id, entity_id, name, display_name)
      values (${own("type")}, '${store}', ${id("entity")}, 'n${name}', 'N')`,
    `insert into option_values (id, organization_id, option_type_id, value, display_value)
      values (${own("value")}, '${store}', ${id("type1")}, 'v${name}', 'V')`,
    `insert into variants (id, organization_id, entity_id, sku, combination)
      values (${own("variant")}, '${store}', ${id("entity")}, ${name === "1" ? "null" : "'sku2'"}, '${name}')`,
    `insert into variant_option_values values ('${store}', ${id("variant1")}, ${own("value")})`,
    `insert into entity_field_definitions (id, organization_id, entity_type, name, label, kind, is_required, is_unique,
        is_filterable, is_public, rules)
      values (${own("field")}, '${store}', 'product', 'f${name}', 'F', 'reference', true, true, false, true, '{}')`,
    `insert into entity_field_values (organization_id, entity_id, definition_id, value, reference_id)
      values ('${store}', ${id("entity")}, ${own("field")}, '"x"', ${id("entity")})`,
    `insert into media_assets (id, organization_id, storage_key, filename, content_type, size, digest)
      values (${own("asset")}, '${store}', 'k${name}', 'f', 'image/png', 1, 'd')`,
    `insert into entity_media values ('${store}', ${id("entity")}, null, ${own("asset")}, 'gallery', 0, now())`,
    `insert into prices (id, organization_id, entity_id, variant_id, currency, amount)
      values (${own("price")}, '${store}', ${id("entity")}, ${id("variant1")}, 'USD', ${name})`,
    `insert into warehouses (id, organization_id, name, code) values (${own("house")}, '${store}', 'W', 'W${name}')`,
    `insert into stock_levels (id, organization_id, sellable_id, warehouse_id, entity_id)
      values (${own("level")}, '${store}', ${id("entity")}, ${own("house")}, ${id("entity")})`,
    `insert into customer_groups (id, organization_id, name) values (${own("group")}, '${store}', 'G${name}')`,
    `insert into customer_group_members (organization_id, group_id, customer_id)
      values ('${store}', ${own("group")}, ${id("customer")})`,
    `insert into customer_addresses (id, organization_id, customer_id, type, first_name, last_name, line1, city, country)
      values (${own("address")}, '${store}', ${id("customer")}, 'shipping', 'A', 'B', '${name}', 'T', 'NL')`,
    `insert into order_lines (id, organization_id, order_id, position, entity_id, variant_id, entity_type, title,
        quantity, unit_price, total_price)
      values (${own("line")}, '${store}', ${id("order")}, ${name}, ${id("entity")}, ${
      id("variant1")
    }, 'product', 'T', 1,
        1, 1)`
  ]
}

/** Rows of the owner that name records of another tenant, whose names must not show. */
const crossing: ReadonlyArray<string> = [
  `insert into prices (id, organization_id, entity_id, variant_id, customer_group_id, currency, amount)
    values (md5('price3')::uuid, 'org_default', md5('entity')::uuid, md5('variant2')::uuid, md5('group2')::uuid::text,
      'USD', 3)`,
  `insert into stock_levels (id, organization_id, sellable_id, warehouse_id, entity_id)
    values (md5('level3')::uuid, 'org_default', md5('entity')::uuid, md5('house2')::uuid, md5('entity')::uuid)`,
  `insert into order_lines (id, organization_id, order_id, position, entity_id, variant_id, entity_type, title, quantity,
      unit_price, total_price)
    values (md5('line3')::uuid, 'org_default', md5('order')::uuid, 3, md5('entity-other')::uuid, md5('variant3')::uuid,
      'product', 'T', 1, 1, 1)`,
  `insert into orders (id, organization_id, order_number, customer_id, status, currency, subtotal, tax_total,
      shipping_total, discount_total, grand_total)
    values (md5('order3')::uuid, 'org_default', 'N3', md5('customer-other')::uuid, 'pending', 'USD', 1, 0, 0, 0, 1)`
]

/** Records of another tenant that rows of the owner name; the variant has no SKU, but options. */
const named: ReadonlyArray<string> = [
  `insert into variants (id, organization_id, entity_id, combination)
    values (md5('variant3')::uuid, 'org_another', md5('entity-other')::uuid, '3')`,
  `insert into entity_media values ('org_another', md5('entity-other')::uuid, null, md5('asset2')::uuid, 'gallery', 0,
    now())`,
  `insert into variant_option_values values ('org_another', md5('variant3')::uuid, md5('value2')::uuid)`
]

/** Records that the others belong to. */
const roots = (store: string, name: string): ReadonlyArray<string> => [
  `insert into catalog_entities (id, organization_id, type, slug, status, is_visible)
    values (md5('entity${name}')::uuid, '${store}', 'product', 'e${name}', 'active', true)`,
  ...(name === "" ? [] : [
    `insert into entity_field_values (organization_id, entity_id, definition_id, value, unique_key)
      values ('${store}', md5('entity${name}')::uuid, md5('field1')::uuid, to_jsonb(md5('entity')::uuid),
        md5('entity')::uuid::text)`
  ]),
  `insert into customers (id, organization_id, email) values (md5('customer${name}')::uuid, '${store}', 'a${name}@b.c')`,
  `insert into orders (id, organization_id, order_number, customer_id, status, currency, subtotal, tax_total,
      shipping_total, discount_total, grand_total)
    values (md5('order${name}')::uuid, '${store}', 'N${name}', md5('customer${name}')::uuid, 'pending', 'USD', 1, 0, 0, 0, 1)`
]

const written = Effect.fnUntraced(function*(statements: ReadonlyArray<string>) {
  const sql = yield* SqlClient.SqlClient
  // Past the keys and triggers that keep rows of two organizations apart.
  yield* sql.withTransaction(Effect.andThen(
    sql`set local session_replication_role = replica`,
    Effect.forEach(statements, (text) => sql.unsafe(text))
  ))
})

/** Everything that files of an organization contain. */
const filesOf = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const [pages, rows] = [yield* ExportRepo, yield* RowBatchRepo]
  const [products, fieldsOf] = [yield* productReads, yield* fieldReads]
  const assets = yield* sql<{ readonly id: MediaAssetId }>`select id from media_assets`
  const state = yield* products([
    {
      slug: "e",
      categories: ["c1", "c2"],
      brands: ["b1", "b2"],
      variants: [{ sku: "sku2" }],
      media: assets.map(({ id }) => ({ id }))
    },
    { slug: "e-other" }
  ])
  const fields = yield* fieldsOf([
    { type: "product", fields: { f1: "e" } },
    { type: "product", fields: { f1: "e-other" } }
  ])
  return JSON.stringify({
    fields: [[...fields.definitions], [...fields.referables], [...fields.owners]],
    references: yield* pages.references,
    locales: yield* pages.locales,
    state: [[...state.products], [...state.categories], [...state.brands], [...state.skus], [...state.assets]],
    pages: yield* Effect.forEach(Kind.literals, (kind) => pages.page(kind, exportStart(kind), 9)),
    numbers: [...(yield* (yield* orderReads)(["N", "N-other"], [])).orders],
    brands: yield* rows.find(brands, "slug", ["b1", "b2"]),
    categories: [...(yield* (yield* categoryReads)([{ slug: "c1" }, { slug: "c2" }])).bySlug]
  })
})

it.layer(Repos, { excludeTestServices: true })("repositories of imports and exports", (it) => {
  it.effect("repositories of imports and exports read the rows of one organization, also where rows of one refer to those of another", () =>
    Effect.gen(function*() {
      yield* openAnother
      yield* written([...roots("org_default", ""), ...things("org_default", "1"), ...crossing])
      const alone = yield* asOwner(filesOf)
      assert.notInclude(alone, `"sku2"`)
      yield* written([...roots("org_another", "-other"), ...things("org_another", "2"), ...named])
      assert.strictEqual(yield* asOwner(filesOf), alone)
      const theirs = yield* asAnother(filesOf)
      assert.include(theirs, "e-other")
      for (const own of [`"slug":"e"`, `"c1"`]) assert.notInclude(theirs, own)
    }))

  it.effect("repositories of imports and exports do not wait for locked rows of another tenant", () =>
    Effect.gen(function*() {
      const [products, fieldsOf] = [yield* productReads, yield* fieldReads]
      const [categories, rows] = [yield* categoryReads, yield* RowBatchRepo]
      const read = Effect.all([
        Effect.map(
          products([{ slug: "e", categories: ["c1"], brands: ["b1"] }]),
          (state) => state.products.size + state.categories.size + state.brands.size
        ),
        Effect.map(categories([{ slug: "c1" }]), ({ bySlug }) => bySlug.size),
        Effect.map(fieldsOf([{ type: "product", fields: { f2: "e" } }]), ({ referables }) => referables.size),
        Effect.map(rows.find(brands, "slug", ["b1"]), ({ length }) => length)
      ])
      assert.deepStrictEqual(yield* whileLocked("org_default", asAnother(read)), [0, 0, 0, 0])
    }))

  it.effect("repositories of imports and exports neither receive, process nor end an import of another tenant", () =>
    Effect.gen(function*() {
      yield* openAnother
      const [imports, batches] = [yield* ImportRepo, yield* BatchRepo]
      const id = yield* asOwner(imports.begin(options))
      assert.isUndefined(yield* asAnother(imports.stage(id, 0, [row], 2)))
      yield* asAnother(imports.discard(id))
      assert.strictEqual(yield* asOwner(imports.stage(id, 0, [row], 2)), 1)
      assert.isUndefined(yield* asAnother(imports.queue(id, null, "hash")))
      assert.isDefined(yield* asOwner(imports.queue(id, "key", "hash")))
      const theirs = yield* asAnother(imports.begin(options))
      // The same key of another tenant is another key.
      assert.isFalse((yield* asAnother(imports.queue(theirs, "key", "other")))?.earlier)
      const again = yield* asAnother(imports.queue(yield* asAnother(imports.begin(options)), "key", "other"))
      assert.deepStrictEqual([again?.earlier, again?.record.id], [true, theirs])
      assert.isUndefined(yield* asAnother(batches.next(id, 9, refusing)))
      assert.isUndefined(yield* asAnother(imports.end(id, "cancelled", null)))
      const done = yield* asOwner(batches.next(id, 9, refusing))
      assert.deepInclude(done?.record, { state: "completed", refused: 1 })
      assert.lengthOf(yield* asOwner(imports.refusalsAfter(id, 0, 9)), 1)
      assert.lengthOf(yield* asAnother(imports.refusalsAfter(id, 0, 9)), 0)
    }))
})
