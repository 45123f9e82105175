import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { newId } from "../../src/domain/ids/Id.ts"
import { api, asAdmin, asStaff, inOrganization, theOrganization, withSharedApp } from "../support/TestApp.ts"
import { entities, make, onDatabase, refused, shopper } from "./CatalogCalls.ts"

const titled = { title: "Sock" }

withSharedApp("catalog entities over HTTP", (it) => {
  describe("creating", () => {
    it.effect("gives a draft with defaults, hidden and unpublished", () =>
      Effect.gen(function*() {
        const slug = newId()
        const answer = yield* api("POST", entities, { as: asAdmin, body: { type: "spaceship", slug, unknown: 1 } })
        assert.strictEqual(answer.status, 201)
        const { createdAt, id, updatedAt, ...rest } = answer.at("data") as Record<string, unknown>
        assert.deepStrictEqual(rest, {
          organizationId: yield* theOrganization,
          sourceStoreId: null,
          type: "spaceship",
          slug,
          status: "draft",
          isVisible: false,
          taxClass: null,
          metadata: {},
          publishedAt: null
        })
        assert.match(String(createdAt), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
        assert.strictEqual(updatedAt, createdAt)
        assert.isString(id)
      }))

    it.effect("as active makes it visible and published at once, with its words and tax class", () =>
      Effect.gen(function*() {
        const { data, id } = yield* make({
          status: "active",
          taxClass: "food",
          attributes: titled,
          metadata: { a: [1] }
        })
        assert.deepStrictEqual([data.at("data.isVisible"), data.at("data.taxClass")], [true, "food"])
        assert.isString(data.at("data.publishedAt"))
        assert.deepStrictEqual(data.at("data.metadata"), { a: [1] })
        const words = yield* api("GET", `${entities}/${id}/attributes/en`, { as: shopper })
        assert.strictEqual(words.text("data.title"), "Sock")
      }))

    it.effect("creating is refused for a slug that is taken, and allowed for the same slug in another organization", () =>
      Effect.gen(function*() {
        const { slug } = yield* make({})
        yield* refused("POST", entities, { type: "product", slug }, 409, "CONFLICT")
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
          const answer = yield* refused("POST", entities, body, 422, "VALIDATION_FAILED")
          assert.strictEqual(answer.at("error.details.issues.0.path"), path, JSON.stringify(body))
        }
        yield* refused("POST", entities, "{", 400, "BAD_REQUEST")
      }))
  })

  describe("changing", () => {
    it.effect("sets the given fields, replaces metadata whole and clears the tax class with null", () =>
      Effect.gen(function*() {
        const { id } = yield* make({ taxClass: "food", metadata: { a: 1, b: 2 } })
        const slug = newId()
        const body = { slug, metadata: { c: 3 }, taxClass: null }
        const answer = yield* api("PATCH", `${entities}/${id}`, { as: asStaff, body })
        assert.strictEqual(answer.status, 200)
        assert.deepStrictEqual(
          [answer.at("data.slug"), answer.at("data.metadata"), answer.at("data.taxClass"), answer.at("data.status")],
          [slug, { c: 3 }, null, "draft"]
        )
      }))

    it.effect("changing to active shows and publishes it, unless the change says otherwise", () =>
      Effect.gen(function*() {
        const [one, two] = [yield* make({}), yield* make({})]
        const shown = yield* api("PATCH", `${entities}/${one.id}`, { as: asAdmin, body: { status: "active" } })
        assert.strictEqual(shown.at("data.isVisible"), true)
        assert.isString(shown.at("data.publishedAt"))
        const body = { status: "active", isVisible: false }
        const hidden = yield* api("PATCH", `${entities}/${two.id}`, { as: asAdmin, body })
        assert.strictEqual(hidden.at("data.isVisible"), false)
      }))

    it.effect("changing is refused for a slug that is taken, an unknown status, an unknown entity and an unusable id", () =>
      Effect.gen(function*() {
        const [one, two] = [yield* make({}), yield* make({})]
        yield* refused("PATCH", `${entities}/${one.id}`, { slug: two.slug }, 409, "CONFLICT")
        yield* refused("PATCH", `${entities}/${one.id}`, { status: "sold" }, 422, "VALIDATION_FAILED")
        yield* refused("PATCH", `${entities}/${newId()}`, { status: "draft" }, 404, "NOT_FOUND")
        yield* refused("PATCH", `${entities}/nonsense`, { status: "draft" }, 422, "VALIDATION_FAILED")
      }))

    it.effect("changing by publish, archive and discontinue works from any status and as often as asked", () =>
      Effect.gen(function*() {
        const { id } = yield* make({})
        for (
          const [action, status] of [
            ["archive", "archived"],
            ["publish", "active"],
            ["publish", "active"],
            ["discontinue", "discontinued"],
            ["archive", "archived"],
            ["publish", "active"]
          ]
        ) {
          const answer = yield* api("POST", `${entities}/${id}/${action}`, { as: asAdmin })
          assert.deepStrictEqual([answer.status, answer.at("data.status")], [200, status])
        }
        yield* refused("POST", `${entities}/${newId()}/publish`, undefined, 404, "NOT_FOUND")
      }))
  })

  describe("deleting", () => {
    it.effect("answers deleted, once", () =>
      Effect.gen(function*() {
        const { id } = yield* make({ attributes: titled })
        const answer = yield* api("DELETE", `${entities}/${id}`, { as: asAdmin })
        assert.deepStrictEqual([answer.status, answer.at("data")], [200, { deleted: true }])
        yield* refused("DELETE", `${entities}/${id}`, undefined, 404, "NOT_FOUND")
      }))

    it.effect("deleting is refused while a cart, an order or a stock movement refers to it", () =>
      Effect.gen(function*() {
        const [inCart, ordered, moved] = [yield* make({}), yield* make({}), yield* make({})]
        yield* onDatabase((sql, organizationId) =>
          Effect.gen(function*() {
            const [cartId, orderId, warehouseId] = [newId(), newId(), newId()]
            yield* sql`insert into carts (id, organization_id, status, currency, secret_hash, expires_at)
              values (${cartId}::uuid, ${organizationId}, 'active', 'USD', '', now())`
            yield* sql`insert into cart_lines
                (id, organization_id, cart_id, entity_id, quantity, unit_price_snapshot, currency)
              values (${newId()}::uuid, ${organizationId}, ${cartId}::uuid, ${inCart.id}::uuid, 1, 1, 'USD')`
            yield* sql`insert into orders (id, organization_id, order_number, status, currency, subtotal, tax_total,
                shipping_total, discount_total, grand_total)
              values (${orderId}::uuid, ${organizationId}, 'ORD-1', 'pending', 'USD', 1, 0, 0, 0, 1)`
            yield* sql`insert into order_lines (id, organization_id, order_id, position, entity_id, entity_type, title,
                quantity, unit_price, total_price)
              values (${newId()}::uuid, ${organizationId}, ${orderId}::uuid, 0, ${ordered.id}::uuid, 'product', 't', 1, 1, 1)`
            yield* sql`insert into warehouses (id, organization_id, name, code)
              values (${warehouseId}::uuid, ${organizationId}, 'w', ${warehouseId})`
            yield* sql`insert into stock_movements (id, organization_id, entity_id, warehouse_id, type, quantity)
              values (${newId()}::uuid, ${organizationId}, ${moved.id}::uuid, ${warehouseId}::uuid, 'receipt', 1)`
          })
        )
        for (const { id } of [inCart, ordered, moved]) {
          yield* refused("DELETE", `${entities}/${id}`, undefined, 409, "CONFLICT")
          assert.strictEqual((yield* api("GET", `${entities}/${id}`, { as: asAdmin })).status, 200)
        }
      }))
  })

  describe("words", () => {
    it.effect("words need a title first, then keep what is not given and clear what is null", () =>
      Effect.gen(function*() {
        const { id } = yield* make({})
        const path = `${entities}/${id}/attributes/de-CH`
        const missing = yield* refused("PUT", path, { description: "d" }, 422, "VALIDATION_FAILED")
        assert.strictEqual(missing.at("error.details.issues.0.path"), "title")
        const put = (body: object) => api("PUT", path, { as: asAdmin, body })
        const first = yield* put({ title: "Socke", description: "warm", richDescription: { type: "doc" } })
        assert.deepStrictEqual([first.status, first.at("data")], [200, { updated: true }])
        yield* put({ seoTitle: "Socken", description: null })
        yield* put({})
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
        yield* refused("PUT", `${entities}/${newId()}/attributes/en`, titled, 404, "NOT_FOUND")
        yield* refused("GET", `${entities}/${newId()}/attributes/en`, undefined, 404, "NOT_FOUND")
        yield* refused("GET", `${entities}/${id}/attributes/fr`, undefined, 404, "NOT_FOUND")
        yield* refused("GET", `${entities}/${id}/attributes/en`, undefined, 404, "NOT_FOUND", shopper)
      }))
  })

  describe("access", () => {
    it.effect("hides a draft from visitors, and an entity from another organization that asks for its slug", () =>
      Effect.gen(function*() {
        const [draft, active] = [yield* make({}), yield* make({ status: "active" })]
        yield* refused("GET", `${entities}/${draft.slug}`, undefined, 404, "NOT_FOUND", undefined)
        assert.strictEqual((yield* api("GET", `${entities}/${draft.slug}`, { as: asStaff })).status, 200)
        const outsider = inOrganization("org_c", asAdmin)
        yield* refused("GET", `${entities}/${active.slug}`, undefined, 404, "NOT_FOUND", outsider)
      }))
  })
})
