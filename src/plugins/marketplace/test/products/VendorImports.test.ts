import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { onDatabase } from "../../../../../test/checkout/CheckoutFixtures.ts"
import { counts, imported, jsonl, reasons } from "../../../../../test/import-export/ImportFixtures.ts"
import { asAdmin } from "../../../../../test/support/TestApp.ts"
import { done, each } from "../Calls.ts"
import { aVendor } from "../Goods.ts"
import { market } from "../Market.ts"

/** Imports products, each with the vendor that it claims to be of; what became of the file, and why of its records. */
const file = (
  ...records: ReadonlyArray<readonly [slug: string, vendorId?: unknown, categories?: ReadonlyArray<string>]>
) =>
  Effect.gen(function*() {
    const rows = records.map(([slug, vendorId, categories]) => (
      { type: "product", slug, categories, ...vendorId === undefined ? {} : { metadata: { vendorId } } }
    ))
    const done = yield* imported(jsonl(...rows), { type: "application/x-ndjson" })
    return { counts: counts(done), reasons: (yield* reasons(done.text("data.id"))).join(" ") }
  })

const slugsOf = (vendorId: string) =>
  Effect.map(done(asAdmin, `GET /vendors/${vendorId}/products?limit=100`), (list) => each(list, "slug").toSorted())

market()("an import of products", (test) => {
  test("gives them to the vendors that they name, and refuses those that name none that may sell", function*() {
    const [one, two, pending] = [yield* aVendor(), yield* aVendor(), yield* aVendor({ status: "pending" })]
    const claims = [["jug", one], ["pot", two.toUpperCase()], ["own"], ["early", pending]] as const
    const made = yield* file(...claims, ["ghost", randomUUID()], ["odd", 7])
    assert.deepStrictEqual([made.counts, yield* slugsOf(one), yield* slugsOf(two)], [[3, 0, 0, 3], ["jug"], ["pot"]])
    assert.match(made.reasons, /4:.*not approved.*5:.*not the id.*6:.*not the id/)
    const links = yield* onDatabase((sql, organizationId) =>
      sql`select 1 from outbox_events where type = 'marketplace/marketplace_vendor_entities.create'
        and organization_id = ${organizationId}`
    )
    assert.strictEqual(links.length, 2)
  })

  test("gives things of the store's own to a vendor, moves none from one to another, and repeats what is so", function*() {
    const [one, two] = [yield* aVendor(), yield* aVendor()]
    yield* file(["bowl"], ["dish", one])
    const given = yield* file(["bowl", one], ["dish", two])
    assert.deepStrictEqual(given.counts, [0, 1, 0, 1])
    assert.match(given.reasons, /2:.*another vendor/)
    assert.deepStrictEqual([yield* slugsOf(one), yield* slugsOf(two)], [["bowl", "dish"], []])
    assert.deepStrictEqual((yield* file(["dish", one])).counts, [0, 0, 1, 0])
  })

  test("links entities in the transaction of the batch, without the events that follow", function*() {
    const vendorId = yield* aVendor()
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
    yield* file(["atomic", vendorId])
    yield* onDatabase((sql) => sql`drop trigger same_transaction on marketplace_vendor_entities`)
    assert.deepStrictEqual(yield* slugsOf(vendorId), ["atomic"])
  })

  test("puts them only into categories that are approved for their vendor, new ones included", function*() {
    const id = yield* aVendor({ name: "Potter", approvedCategories: ["clay"] })
    const both = ["clay", "glass"]
    const made = yield* file(["in-clay", id, ["clay"]], ["in-glass", id, both], ["own-glass", undefined, ["glass"]], [
      "in-id",
      id,
      [randomUUID()]
    ])
    assert.deepStrictEqual(made.counts, [2, 0, 0, 2])
    assert.match(made.reasons, /2:.*Potter may not sell in "glass"/)
    assert.deepStrictEqual((yield* file(["in-clay", undefined, both])).counts, [0, 0, 0, 1])
  })
})
