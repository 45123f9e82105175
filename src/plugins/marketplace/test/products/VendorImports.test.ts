import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { onDatabase } from "../../../../../test/checkout/CheckoutFixtures.ts"
import { counts, imported, jsonl, reasons } from "../../../../../test/import-export/ImportFixtures.ts"
import { api, asAdmin } from "../../../../../test/support/TestApp.ts"
import { admin, anApprovedVendor, aVendor, withMarketplace } from "../VendorShop.ts"

const file = (...records: ReadonlyArray<object>) =>
  imported(jsonl(...records.map((record) => ({ type: "product", ...record }))), { type: "application/x-ndjson" })

const slugsOf = (vendorId: string) =>
  Effect.map(
    admin("GET", `/${vendorId}/products?limit=100`),
    (list) => list.list("data").map((_, at) => list.text(`data.${at}.slug`)).toSorted()
  )

const claiming = (vendorId: unknown) => ({ metadata: { vendorId } })

withMarketplace()("an import of products", (it) => {
  it.effect("gives them to the vendors that they name, and refuses those that name none that may sell", () =>
    Effect.gen(function*() {
      const [one, two, pending] = [yield* anApprovedVendor(), yield* anApprovedVendor(), yield* aVendor()]
      const done = yield* file(
        { slug: "jug", ...claiming(one) },
        { slug: "pot", ...claiming(two.toUpperCase()) },
        { slug: "own" },
        { slug: "early", ...claiming(pending) },
        { slug: "ghost", ...claiming(randomUUID()) },
        { slug: "odd", ...claiming(7) }
      )
      assert.deepStrictEqual(counts(done), [3, 0, 0, 3])
      assert.deepStrictEqual([yield* slugsOf(one), yield* slugsOf(two)], [["jug"], ["pot"]])
      assert.match((yield* reasons(done.text("data.id"))).join(" "), /4:.*not approved.*5:.*not the id.*6:.*not the id/)
      const links = yield* onDatabase((sql, organizationId) =>
        sql`select 1 from outbox_events where type = 'marketplace/marketplace_vendor_entities.create'
          and organization_id = ${organizationId}`
      )
      assert.strictEqual(links.length, 2)
    }))

  it.effect("gives things of the store's own to a vendor, moves none from one to another, and repeats what is so", () =>
    Effect.gen(function*() {
      const [one, two] = [yield* anApprovedVendor(), yield* anApprovedVendor()]
      yield* file({ slug: "bowl" }, { slug: "dish", ...claiming(one) })
      const given = yield* file({ slug: "bowl", ...claiming(one) }, { slug: "dish", ...claiming(two) })
      assert.deepStrictEqual(counts(given), [0, 1, 0, 1])
      assert.match((yield* reasons(given.text("data.id"))).join(" "), /2:.*another vendor/)
      assert.deepStrictEqual([yield* slugsOf(one), yield* slugsOf(two)], [["bowl", "dish"], []])
      assert.deepStrictEqual(counts(yield* file({ slug: "dish", ...claiming(one) })), [0, 0, 1, 0])
    }))

  it.effect("links entities in the transaction of the batch, without the events that follow", () =>
    Effect.gen(function*() {
      const vendorId = yield* anApprovedVendor()
      yield* onDatabase((sql) =>
        sql`create or replace function same_transaction() returns trigger language plpgsql as $$ begin
            if (select xmin from catalog_entities where id = new.entity_id) <> pg_current_xact_id()::xid then
              raise exception 'the link came later than the entity';
            end if; return new; end $$`
      )
      yield* onDatabase((sql) =>
        sql`create trigger same_transaction before insert on marketplace_vendor_entities
          for each row execute function same_transaction()`
      )
      yield* file({ slug: "atomic", ...claiming(vendorId) })
      assert.deepStrictEqual(yield* slugsOf(vendorId), ["atomic"])
      yield* onDatabase((sql) => sql`drop trigger same_transaction on marketplace_vendor_entities`)
    }))

  it.effect("puts them only into categories that are approved for their vendor, new ones included", () =>
    Effect.gen(function*() {
      const vendorId = yield* anApprovedVendor({ name: "Potter", approvedCategories: ["clay"] })
      const done = yield* file(
        { slug: "in-clay", categories: ["clay"], ...claiming(vendorId) },
        { slug: "in-glass", categories: ["clay", "glass"], ...claiming(vendorId) },
        { slug: "of-the-store", categories: ["glass"] },
        { slug: "in-an-id", categories: [randomUUID()], ...claiming(vendorId) }
      )
      assert.deepStrictEqual(counts(done), [2, 0, 0, 2])
      assert.match((yield* reasons(done.text("data.id"))).join(" "), /2:.*Potter may not sell in "glass"/)
      const later = yield* file({ slug: "in-clay", categories: ["clay", "glass"] })
      assert.deepStrictEqual(counts(later), [0, 0, 0, 1])
      const kept = yield* api("GET", "/api/catalog/entities/in-clay?include=categories", { as: asAdmin })
      assert.strictEqual(kept.list("data.categories").length, 1)
    }))
})
