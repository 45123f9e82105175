import { PgClient } from "@effect/sql-pg"
import { assert, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import { migrateEach } from "../../src/layers/Migrations.ts"
import { migrationOwners } from "../../src/layers/modules/Modules.ts"
import { onDatabase } from "../support/Audit.ts"
import { copyOf } from "../support/Postgres.ts"
import { api, asAdmin, inOrganization, testAppOn } from "../support/TestApp.ts"
import { aTaxedProduct, buying, to } from "./TaxedShop.ts"

/** The first migrations that know of classes by id. */
const first: Readonly<Record<string, string>> = { catalog: "0006", orders: "0010", shipping: "0003", tax: "0003" }

const before = migrationOwners.map(([owner, migrations]) => {
  const until = first[owner] ?? "9999"
  return [owner, Object.fromEntries(Object.entries(migrations).filter(([name]) => name < until))] as const
})

/** A database of the version before, with these rows, and the service on it. */
const upgraded = (rows: Parameters<typeof onDatabase<unknown>>[1]) =>
  Effect.gen(function*() {
    const { url } = yield* copyOf("template0")
    const client = PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })
    yield* Effect.provide(migrateEach(before), client)
    yield* onDatabase(url, rows)
    return { url, app: yield* Layer.build(testAppOn(url, {})) }
  })

const store = "org_default"
const [regional, classed] = [newId(), newId()]

it.live("a store's taxes stay through the upgrade, and goods keep the class that they named", () =>
  Effect.scoped(Effect.gen(function*() {
    const { app } = yield* upgraded((sql) =>
      Effect.gen(function*() {
        for (const id of [store, "regions"]) {
          yield* sql`insert into organizations (id, slug, name) values (${id}, ${id}, 'Store') on conflict do nothing`
          yield* sql`insert into tax_rates (id, organization_id, name, country, rate_bps)
            values (${newId()}, ${id}, 'VAT', 'NL', 2100)`
        }
        yield* sql`insert into tax_classes (id, organization_id, name, rate_bps, is_default, is_active) values
          (${newId()}, ${store}, 'Standard', 1900, true, true), (${newId()}, ${store}, 'Reduced Goods', 725, false, true),
          (${newId()}, ${store}, 'reduced goods', 500, false, true), (${newId()}, 'regions', 'Idle', 500, false, false)`
        const goods = [[regional, "PC040100"], [classed, "Reduced Goods"]] as const
        for (const [id, taxClass] of goods) {
          yield* sql`insert into catalog_entities (id, organization_id, type, slug, status, is_visible, manage_inventory, tax_class)
            values (${id}, ${store}, 'service', ${id}, 'active', true, false, ${taxClass})`
          yield* sql`insert into prices (id, organization_id, entity_id, currency, amount)
            values (${newId()}, ${store}, ${id}, 'USD', 1000)`
        }
      })
    )
    yield* Effect.gen(function*() {
      const classes = yield* api("GET", "/api/tax/classes", { as: asAdmin })
      const shown = classes.list("data").map((one) => one as Readonly<Record<string, unknown>>)
      assert.deepStrictEqual(shown.map(({ name, rate }) => [name, rate]), [
        ["Reduced Goods", "7.25"],
        ["Standard", "19"],
        ["reduced goods", "5"]
      ])
      assert.strictEqual(new Set(shown.map(({ slug }) => slug)).size, 3)
      const [legacy, named] = [
        yield* api("GET", `/api/catalog/entities/${regional}`, { as: asAdmin }),
        yield* api("GET", `/api/catalog/entities/${classed}`, { as: asAdmin })
      ]
      assert.deepStrictEqual([legacy.at("data.taxClass"), legacy.at("data.taxClassId")], ["PC040100", null])
      assert.deepStrictEqual(named.at("data.taxClassId"), shown[0]?.["id"])
      const { order } = yield* buying([regional, classed], to("NL"))
      assert.strictEqual(order.at("data.taxTotal"), 190 + 73, JSON.stringify(order.body))
      const [off] = yield* api("GET", "/api/tax/rates", { as: asAdmin }).pipe(Effect.map((all) => all.list("data")))
      const elsewhere = yield* api("GET", "/api/tax/rates", { as: inOrganization("regions", asAdmin) })
      assert.deepInclude(off, { country: "NL", rate: "21", isActive: false })
      assert.deepInclude(elsewhere.at("data.0"), { country: "NL", rate: "21", isActive: true })

      // What goods say already is said again.
      const kept = yield* api("PATCH", `/api/catalog/entities/${regional}`, {
        as: asAdmin,
        body: { taxClass: "PC040100", taxClassId: null }
      })
      assert.deepStrictEqual([kept.status, kept.at("data.taxClass")], [200, "PC040100"])
    }).pipe(Effect.provide(app))
  })))

it.live("a process of the version before writes classes, rates and goods beside this one", () =>
  Effect.scoped(Effect.gen(function*() {
    const { app, url } = yield* upgraded(() => Effect.void)
    yield* Effect.gen(function*() {
      const early = yield* aTaxedProduct(1000)
      yield* onDatabase(url, (sql) =>
        Effect.gen(function*() {
          yield* sql`update catalog_entities set tax_class = 'Books & Maps' where id = ${early}::uuid`
          for (const name of ["Books & Maps", "books maps"]) {
            yield* sql`insert into tax_classes (id, organization_id, name, rate_bps, is_default, is_active)
              values (${newId()}, ${store}, ${name}, 700, false, true)`
          }
        }))
      const entity = `/api/catalog/entities/${early}`
      const classes = yield* api("GET", "/api/tax/classes", { as: asAdmin })
      const books = classes.text("data.0.id")
      assert.deepInclude(classes.at("data.0"), { name: "Books & Maps", slug: "books-maps", rate: "7", rateBps: 700 })
      assert.match(classes.text("data.1.slug"), /^books-maps-.+$/)
      assert.strictEqual((yield* api("GET", entity, { as: asAdmin })).at("data.taxClassId"), books)

      // It reads the present name where goods name a class, and writes names.
      yield* api("PATCH", `/api/tax/classes/${books}`, { as: asAdmin, body: { name: "Print", rate: "9.975" } })
      const read = yield* onDatabase(url, (sql) =>
        Effect.gen(function*() {
          const goods = yield* sql`select tax_class from catalog_entities_read where id = ${early}::uuid`
          yield* sql`update catalog_entities set tax_class = 'books maps' where id = ${early}::uuid`
          const rates = yield* sql`select rate_bps from tax_classes where id = ${books}::uuid`
          yield* sql`update tax_classes set rate_bps = rate_bps, is_active = true where id = ${books}::uuid`
          return [...goods, ...rates]
        }))
      assert.deepStrictEqual(read, [{ tax_class: "Print" }, { rate_bps: 998 }])
      assert.strictEqual((yield* api("GET", entity, { as: asAdmin })).at("data.taxClassId"), classes.at("data.1.id"))
      assert.strictEqual((yield* api("GET", `/api/tax/classes/${books}`, { as: asAdmin })).at("data.rate"), "9.975")
      yield* onDatabase(url, (sql) => sql`update tax_classes set rate_bps = 500 where id = ${books}::uuid`)
      assert.strictEqual((yield* api("GET", `/api/tax/classes/${books}`, { as: asAdmin })).at("data.rate"), "5")
    }).pipe(Effect.provide(app))
  })))

it.live("a process of the version before does not see rates that it would apply to too much", () =>
  Effect.scoped(Effect.gen(function*() {
    const { app, url } = yield* upgraded(() => Effect.void)
    yield* Effect.gen(function*() {
      const plain = { name: "VAT", country: "NL", rate: "21" }
      const reduced = yield* api("POST", "/api/tax/classes", { as: asAdmin, body: { name: "Reduced", rate: "7" } })
      const more = [{ compound: true }, { validFrom: "2027-01-01" }, { validUntil: "2027-01-01" }, {
        taxClassId: reduced.at("data.id")
      }]
      const sent = [
        plain,
        { ...plain, country: null },
        { ...plain, postalCode: "1*" },
        ...more.map((fields, n) => ({ ...plain, name: `VAT ${n}`, ...fields }))
      ]
      const made = yield* Effect.forEach(sent, (body) => api("POST", "/api/tax/rates", { as: asAdmin, body }))
      yield* onDatabase(url, (sql) => sql`update tax_rates set priority = 7, country = country, rate_bps = rate_bps`)
      const seen = yield* onDatabase(url, (sql) => sql`select id::text, country from tax_rates order by id`)
      const countries = new Map(seen.map(({ country, id }) => [id, country]))
      assert.deepStrictEqual(made.map((one) => countries.get(one.text("data.id"))), [
        "NL",
        ...Array.from({ length: 6 }, () => "OO")
      ])
      const shown = yield* Effect.forEach(
        made,
        (one) => api("GET", `/api/tax/rates/${one.text("data.id")}`, { as: asAdmin })
      )
      assert.deepStrictEqual(shown.map((one) => [one.at("data.country"), one.at("data.priority")]), [
        ["NL", 7],
        [null, 7],
        ...Array.from({ length: 5 }, () => ["NL", 7])
      ])
    }).pipe(Effect.provide(app))
  })))

it.live("an edit by a process of the version before leaves no taxes that are wrong", () =>
  Effect.scoped(Effect.gen(function*() {
    const { app, url } = yield* upgraded(() => Effect.void)
    yield* Effect.gen(function*() {
      yield* api("POST", "/api/tax/classes", { as: asAdmin, body: { name: "Standard", rate: "19", isDefault: true } })
      const { order } = yield* buying([yield* aTaxedProduct(1000)])
      const line = order.text("data.lineItems.0.id")
      const taxes = Effect.map(
        api("GET", `/api/orders/${order.text("data.id")}`, { as: asAdmin }),
        (read) => read.at("data.taxes")
      )
      const charged = [{ name: "Standard", rate: "19", base: 1000, amount: 190 }]
      yield* onDatabase(
        url,
        (sql) => sql`update order_lines set tax_amount = 190, notes = 'x' where id = ${line}::uuid`
      )
      assert.deepStrictEqual(yield* taxes, charged)
      yield* onDatabase(url, (sql) => sql`update order_lines set tax_amount = 95 where id = ${line}::uuid`)
      assert.deepStrictEqual(yield* taxes, [])
    }).pipe(Effect.provide(app))
  })))
