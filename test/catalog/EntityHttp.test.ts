import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import { api, asAdmin, asStaff, inOrganization, theOrganization, withSharedApp } from "../support/TestApp.ts"
import { change, created, entities, make, onDatabase, refused, shopper } from "./CatalogCalls.ts"

const titled = { title: "Sock" }

withSharedApp("catalog entities over HTTP", (it) => {
  it.effect("creating gives a draft with defaults, hidden and unpublished", () =>
    Effect.gen(function*() {
      const slug = newId()
      const answer = yield* created(entities, { type: "spaceship", slug, unknown: 1 })
      const { createdAt, id, updatedAt, ...rest } = answer.at("data") as Record<string, unknown>
      assert.deepStrictEqual(rest, {
        organizationId: yield* theOrganization,
        sourceStoreId: null,
        type: "spaceship",
        slug,
        status: "draft",
        isVisible: false,
        taxClass: null,
        taxClassId: null,
        manageInventory: true,
        allowBackorder: false,
        backorderLimit: null,
        metadata: {},
        publishedAt: null
      })
      assert.match(String(createdAt), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      assert.strictEqual(updatedAt, createdAt)
      assert.isString(id)
    }))

  it.effect("creating as active makes it visible and published at once, with its words and tax class", () =>
    Effect.gen(function*() {
      yield* api("POST", "/api/tax/classes", { as: asAdmin, body: { name: "food", rateBps: 700, isActive: false } })
      const body = { status: "active", taxClass: "food", attributes: titled, metadata: { a: [1] } }
      const { data, id } = yield* make(body)
      assert.deepStrictEqual([data.at("data.isVisible"), data.at("data.taxClass")], [true, "food"])
      assert.isString(data.at("data.publishedAt"))
      assert.deepStrictEqual(data.at("data.metadata"), { a: [1] })
      const words = yield* api("GET", `${entities}/${id}/attributes/en`, { as: shopper })
      assert.strictEqual(words.text("data.title"), "Sock")
    }))

  it.effect("slugs have no blanks at their ends, are composed, and are parts of addresses", () =>
    Effect.gen(function*() {
      const [text, type] = [newId(), "product"]
      const made = yield* created(entities, { type, slug: ` cafe\u0301-${text} ` })
      assert.strictEqual(made.at("data.slug"), `café-${text}`)
      const path = `${entities}/${encodeURIComponent(`cafe\u0301-${text}`)}`
      assert.strictEqual((yield* api("GET", path, { as: asAdmin })).at("data.id"), made.at("data.id"))
      yield* refused("POST", entities, { type, slug: `cafe\u0301-${text}` }, 409)
      for (const slug of [".", "..", " .. ", "a\tb", "a\nb", "   "]) {
        yield* refused("POST", entities, { type, slug }, 422)
        yield* refused("POST", "/api/catalog/categories", { slug }, 422)
        yield* refused("POST", "/api/catalog/brands", { slug, displayName: "B" }, 422)
      }
    }))

  it.effect("creating is refused for a slug that is taken, and allowed for the same slug in another organization", () =>
    Effect.gen(function*() {
      const { slug } = yield* make({})
      yield* refused("POST", entities, { type: "product", slug }, 409)
      yield* onDatabase((sql) => sql`insert into organizations (id, slug, name) values ('org_b', 'b', 'B')`)
      const as = inOrganization("org_b", asAdmin)
      const other = yield* api("POST", entities, { as, body: { type: "product", slug } })
      assert.deepStrictEqual([other.status, other.at("data.organizationId")], [201, "org_b"])
    }))

  it.effect("creating is refused for every unusable body, naming the fields", () =>
    Effect.gen(function*() {
      const usable = { type: "product", slug: "s" }
      const bodies: ReadonlyArray<readonly [string, object]> = [
        ["slug", { type: "product" }],
        ["type", { slug: "s" }],
        ["slug", { ...usable, slug: "" }],
        ["slug", { ...usable, slug: "a\u0000b" }],
        ["slug", { ...usable, slug: "x".repeat(256) }],
        ["status", { ...usable, status: "sold" }],
        ["metadata", { ...usable, metadata: [] }],
        ["metadata.a", { ...usable, metadata: { a: "\u0000" } }],
        ["attributes.title", { ...usable, attributes: { locale: "de" } }]
      ]
      for (const [path, body] of bodies) {
        const answer = yield* refused("POST", entities, body, 422)
        assert.strictEqual(answer.at("error.details.issues.0.path"), path, JSON.stringify(body))
      }
      yield* refused("POST", entities, "{", 400)
    }))

  it.effect("changing sets the given fields, replaces metadata whole and clears the tax class with null", () =>
    Effect.gen(function*() {
      yield* api("POST", "/api/tax/classes", { as: asAdmin, body: { name: "food", rateBps: 700, isActive: false } })
      const { id } = yield* make({ taxClass: "food", metadata: { a: 1, b: 2 } })
      const body = { slug: newId(), metadata: { c: 3 }, taxClass: null }
      const answer = yield* api("PATCH", `${entities}/${id}`, { as: asStaff, body })
      assert.strictEqual(answer.status, 200)
      const changed = { ...body, status: "draft" }
      for (const [key, value] of Object.entries(changed)) assert.deepStrictEqual(answer.at(`data.${key}`), value)
    }))

  it.effect("changing to active shows and publishes it, unless the change says otherwise", () =>
    Effect.gen(function*() {
      const [one, two] = [yield* make({}), yield* make({})]
      const shown = yield* change("PATCH", `${entities}/${one.id}`, { status: "active" })
      assert.strictEqual(shown.at("data.isVisible"), true)
      assert.isString(shown.at("data.publishedAt"))
      const hidden = yield* change("PATCH", `${entities}/${two.id}`, { status: "active", isVisible: false })
      assert.strictEqual(hidden.at("data.isVisible"), false)
    }))

  it.effect("changing is refused for a slug that is taken, an unknown status, an unknown entity and an unusable id", () =>
    Effect.gen(function*() {
      const [one, two] = [yield* make({}), yield* make({})]
      yield* refused("PATCH", `${entities}/${one.id}`, { slug: two.slug }, 409)
      yield* refused("PATCH", `${entities}/${one.id}`, { status: "sold" }, 422)
      yield* refused("PATCH", `${entities}/${newId()}`, { status: "draft" }, 404)
      yield* refused("PATCH", `${entities}/nonsense`, { status: "draft" }, 422)
    }))

  it.effect("changing by publish, archive and discontinue works from any status and as often as asked", () =>
    Effect.gen(function*() {
      const { id } = yield* make({})
      const statuses = { archive: "archived", publish: "active", discontinue: "discontinued" } as const
      for (const action of ["archive", "publish", "publish", "discontinue", "archive", "publish"] as const) {
        const answer = yield* api("POST", `${entities}/${id}/${action}`, { as: asAdmin })
        assert.deepStrictEqual([answer.status, answer.at("data.status")], [200, statuses[action]])
      }
      yield* refused("POST", `${entities}/${newId()}/publish`, undefined, 404)
    }))

  it.effect("deleting answers deleted, once", () =>
    Effect.gen(function*() {
      const { id } = yield* make({ attributes: titled })
      const answer = yield* api("DELETE", `${entities}/${id}`, { as: asAdmin })
      assert.deepStrictEqual([answer.status, answer.at("data")], [200, { deleted: true }])
      yield* refused("DELETE", `${entities}/${id}`, undefined, 404)
    }))

  it.effect("deleting is refused while a cart, an order or a stock movement refers to it", () =>
    Effect.gen(function*() {
      const [inCart, ordered, moved] = [yield* make({}), yield* make({}), yield* make({})]
      yield* onDatabase((sql, organizationId) =>
        sql`with cart as (insert into carts (id, organization_id, status, currency, secret_hash, expires_at)
            values (gen_random_uuid(), ${organizationId}, 'active', 'USD', '', now()) returning *),
          cart_line as (
            insert into cart_lines (id, organization_id, cart_id, entity_id, quantity, unit_price_snapshot, currency)
            select gen_random_uuid(), organization_id, id, ${inCart.id}::uuid, 1, 1, 'USD' from cart),
          placed as (insert into orders (id, organization_id, order_number, status, currency, subtotal, tax_total,
              shipping_total, discount_total, grand_total)
            values (gen_random_uuid(), ${organizationId}, 'ORD-1', 'pending', 'USD', 1, 0, 0, 0, 1) returning *),
          order_line as (insert into order_lines (id, organization_id, order_id, position, entity_id, entity_type,
              title, quantity, unit_price, total_price)
            select gen_random_uuid(), organization_id, id, 0, ${ordered.id}::uuid, 'product', 't', 1, 1, 1 from placed),
          store as (insert into warehouses (id, organization_id, name, code)
            values (gen_random_uuid(), ${organizationId}, 'w', ${newId()}) returning *)
        insert into stock_movements (id, organization_id, entity_id, warehouse_id, type, quantity)
        select gen_random_uuid(), organization_id, ${moved.id}::uuid, id, 'receipt', 1 from store`
      )
      for (const { id } of [inCart, ordered, moved]) {
        yield* refused("DELETE", `${entities}/${id}`, undefined, 409)
        assert.strictEqual((yield* api("GET", `${entities}/${id}`, { as: asAdmin })).status, 200)
      }
    }))

  it.effect("words need a title first, then keep what is not given and clear what is null", () =>
    Effect.gen(function*() {
      const { id } = yield* make({})
      const path = `${entities}/${id}/attributes/de-CH`
      const missing = yield* refused("PUT", path, { description: "d" }, 422)
      assert.strictEqual(missing.at("error.details.issues.0.path"), "title")
      const first = yield* change("PUT", path, {
        title: "Socke",
        description: "warm",
        richDescription: { type: "doc" }
      })
      assert.deepStrictEqual([first.status, first.at("data")], [200, { updated: true }])
      yield* change("PUT", path, { seoTitle: "Socken", description: null })
      yield* change("PUT", path, {})
      const words = yield* api("GET", path, { as: asAdmin })
      const { id: _, ...rest } = words.at("data") as Record<string, unknown>
      assert.deepStrictEqual(rest, {
        entityId: id,
        locale: "de-CH",
        title: "Socke",
        subtitle: null,
        description: null,
        richDescription: { type: "doc" },
        seoTitle: "Socken",
        seoDescription: null,
        status: "approved"
      })
    }))

  it.effect("words of an unknown entity or locale, or of a draft asked for by a shopper, are not found", () =>
    Effect.gen(function*() {
      const { id } = yield* make({ attributes: titled })
      yield* refused("PUT", `${entities}/${newId()}/attributes/en`, titled, 404)
      yield* refused("GET", `${entities}/${newId()}/attributes/en`, undefined, 404)
      yield* refused("GET", `${entities}/${id}/attributes/fr`, undefined, 404)
      yield* refused("GET", `${entities}/${id}/attributes/en`, undefined, 404, shopper)
    }))

  it.effect("a read hides a draft from visitors, and an entity from another organization that asks for its slug", () =>
    Effect.gen(function*() {
      const [draft, active] = [yield* make({}), yield* make({ status: "active" })]
      yield* refused("GET", `${entities}/${draft.slug}`, undefined, 404, undefined)
      assert.strictEqual((yield* api("GET", `${entities}/${draft.slug}`, { as: asStaff })).status, 200)
      yield* refused("GET", `${entities}/${active.slug}`, undefined, 404, inOrganization("org_c", asAdmin))
    }))
})
