import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import { api, asAdmin, asCustomer, asStaff, withSharedApp } from "../support/TestApp.ts"
import { brands, categories, each, entities, make, onDatabase, refused, shopper } from "./CatalogCalls.ts"

const slugsOf = Effect.fnUntraced(function*(query: string, as: typeof asAdmin = asAdmin) {
  const answer = yield* api("GET", `${entities}?${query}`, { as })
  assert.strictEqual(answer.status, 200, JSON.stringify(answer.body))
  return { answer, slugs: each(answer, "slug").map(String) }
})

withSharedApp("lists and expansions over HTTP", (it) => {
  it.effect("a list is newest first, pages with totals, and clamps what cannot be a page", () =>
    Effect.gen(function*() {
      const type = newId()
      const made = []
      for (const _ of [1, 2, 3, 4, 5]) made.unshift((yield* make({ type })).slug)
      const first = yield* slugsOf(`type=${type}&limit=2`)
      assert.deepStrictEqual(first.slugs, made.slice(0, 2))
      assert.deepInclude(first.answer.at("meta.pagination"), { page: 1, limit: 2, total: 5, totalPages: 3 })
      assert.deepStrictEqual((yield* slugsOf(`type=${type}&limit=2&page=3`)).slugs, made.slice(4))
      const odd = yield* slugsOf(`type=${type}&limit=1000&page=-1`)
      assert.deepStrictEqual(odd.answer.at("meta.pagination"), { page: 1, limit: 100, total: 5, totalPages: 1 })
      const beyond = yield* slugsOf(`type=${type}&page=9`)
      assert.deepStrictEqual([beyond.slugs, beyond.answer.number("meta.pagination.total")], [[], 5])
      const none = yield* slugsOf(`type=${newId()}`)
      assert.deepStrictEqual(none.answer.at("meta.pagination"), { page: 1, limit: 20, total: 0, totalPages: 1 })
    }))

  it.effect("a list is walked by cursors: each row once, also rows of one moment, and when the row of the cursor is gone", () =>
    Effect.gen(function*() {
      const type = newId()
      for (const _ of [1, 2, 3, 4, 5, 6, 7]) yield* make({ type })
      // All of one microsecond but two, which are a microsecond apart: a time in milliseconds would mix them up.
      yield* onDatabase((sql) =>
        sql`update catalog_entities set created_at = '2026-01-01T00:00:00.000001Z'::timestamptz
            + case when id in (select min(id::text)::uuid from catalog_entities where type = ${type}) then interval '1 microsecond'
              else interval '0' end where type = ${type}`
      )
      const whole = (yield* slugsOf(`type=${type}`)).slugs
      const walked: Array<string> = []
      for (let next = ""; walked.length < 7;) {
        const { answer, slugs } = yield* slugsOf(`type=${type}&limit=2${next}`)
        walked.push(...slugs)
        if (slugs.length < 2) assert.isUndefined(answer.at("meta.pagination.nextCursor"))
        else next = `&cursor=${answer.text("meta.pagination.nextCursor")}`
        assert.strictEqual(answer.number("meta.pagination.total"), 7)
      }
      assert.deepStrictEqual(walked, whole)

      const { answer: first } = yield* slugsOf(`type=${type}&limit=2`)
      yield* api("DELETE", `${entities}/${first.text("data.1.id")}`, { as: asAdmin })
      const after = `cursor=${first.text("meta.pagination.nextCursor")}`
      assert.deepStrictEqual((yield* slugsOf(`type=${type}&limit=3&${after}`)).slugs, whole.slice(2, 5))
      assert.isUndefined((yield* slugsOf(`type=${type}&sort=slug:asc&limit=1`)).answer.at("meta.pagination.nextCursor"))
      for (const broken of ["x", "2026-02-30T00:00:00.000000Z_" + newId(), "2026-02-01T00:00:00.000000Z_x", ""]) {
        yield* refused("GET", `${entities}?cursor=${broken}`, undefined, 422)
      }
    }))

  it.effect("a list sorts by its three fields, anything but asc descending, and refuses other fields", () =>
    Effect.gen(function*() {
      const type = newId()
      for (const slug of ["b", "c", "a"]) yield* make({ type, slug: `${slug}-${type}` })
      const by = (sort: string) =>
        Effect.map(slugsOf(`type=${type}&sort=${sort}`), ({ slugs }) => slugs.map((slug) => slug[0]).join(""))
      assert.strictEqual(yield* by("slug:asc"), "abc")
      assert.strictEqual(yield* by("slug:down"), "cba")
      assert.strictEqual(yield* by("createdAt:asc"), "bca")
      assert.strictEqual(yield* by("updatedAt"), "acb")
      yield* refused("GET", `${entities}?sort=price:asc`, undefined, 422)
    }))

  it.effect("a list filters by status, and an unknown status finds nothing", () =>
    Effect.gen(function*() {
      const type = newId()
      const [draft, active] = [yield* make({ type }), yield* make({ type, status: "active" })]
      assert.deepStrictEqual((yield* slugsOf(`type=${type}&status=draft`)).slugs, [draft.slug])
      assert.deepStrictEqual((yield* slugsOf(`type=${type}&status=active`)).slugs, [active.slug])
      assert.deepStrictEqual((yield* slugsOf(`type=${type}&status=sold`)).slugs, [])
    }))

  it.effect("a list shows customers active and visible entities for any requested status, and staff all entities", () =>
    Effect.gen(function*() {
      const type = newId()
      yield* make({ type })
      const shown = yield* make({ type, status: "active" })
      const hidden = yield* make({ type, status: "active" })
      yield* api("PATCH", `${entities}/${hidden.id}`, { as: asAdmin, body: { isVisible: false } })
      const seen = yield* slugsOf(`type=${type}`, shopper)
      assert.deepStrictEqual([seen.slugs, seen.answer.number("meta.pagination.total")], [[shown.slug], 1])
      const drafts = yield* slugsOf(`type=${type}&status=draft`, shopper)
      assert.deepStrictEqual([drafts.slugs, drafts.answer.number("meta.pagination.total")], [[], 0])
      assert.strictEqual((yield* slugsOf(`type=${type}`, asStaff)).slugs.length, 3)
      yield* refused("GET", `${entities}/${hidden.id}`, undefined, 404, shopper)
      assert.strictEqual((yield* api("GET", `${entities}/${shown.id}`, { as: shopper })).status, 200)
    }))

  it.effect("a list narrows to a category and a brand by id or slug, and refuses unknown ones", () =>
    Effect.gen(function*() {
      const [one, two] = [yield* make({}), yield* make({})]
      const [categorySlug, brandSlug] = [`c-${newId()}`, `b-${newId()}`]
      const category = yield* api("POST", categories, { as: asAdmin, body: { slug: categorySlug } })
      const brand = yield* api("POST", brands, { as: asAdmin, body: { slug: brandSlug, displayName: "Brand" } })
      for (const entity of [one, two]) {
        yield* api("POST", `${entities}/${entity.id}/categories/${category.text("data.id")}`, { as: asAdmin })
      }
      yield* api("POST", `${entities}/${two.id}/brands/${brand.text("data.id")}`, { as: asAdmin })
      for (const named of [categorySlug, category.text("data.id")]) {
        assert.deepStrictEqual((yield* slugsOf(`category=${named}`)).slugs, [two.slug, one.slug])
      }
      for (const named of [brandSlug, brand.text("data.id")]) {
        assert.deepStrictEqual((yield* slugsOf(`category=${categorySlug}&brand=${named}`)).slugs, [two.slug])
      }
      for (const unknown of ["nonsense", newId()]) {
        yield* refused("GET", `${entities}?category=${unknown}`, undefined, 422)
        yield* refused("GET", `${entities}?brand=${unknown}`, undefined, 422)
      }
    }))

  it.effect("a read finds by id in any case and by slug, even a slug that looks like an id", () =>
    Effect.gen(function*() {
      const { id, slug } = yield* make({})
      assert.notStrictEqual(id, slug)
      for (const named of [id, id.toUpperCase(), slug]) {
        assert.strictEqual((yield* api("GET", `${entities}/${named}`, { as: asAdmin })).at("data.id"), id)
      }
      yield* refused("GET", `${entities}/${newId()}`, undefined, 404)
      yield* refused("GET", `${entities}/nonsense`, undefined, 404)
      yield* refused("GET", `${entities}/a%00b`, undefined, 422)
    }))

  it.effect("a read carries the expansions that were asked for and no key for the others", () =>
    Effect.gen(function*() {
      const { id, slug } = yield* make({ status: "active", attributes: { title: "Sock", subtitle: "warm" } })
      yield* fillIn(id)
      const plain = yield* api("GET", `${entities}/${slug}`, { as: shopper })
      for (const key of ["attributes", "variants", "pricing", "media"]) assert.isUndefined(plain.at(`data.${key}`))
      const all = "attributes, variants,categories,brands,media,inventory,pricing,optionTypes,nonsense"
      const full = yield* api("GET", `${entities}/${slug}?include=${encodeURIComponent(all)}`, { as: shopper })
      const listed = yield* api("GET", `${entities}?type=product&limit=100&include=${encodeURIComponent(all)}`, {
        as: shopper
      })
      const item = listed.list("data").find((one) => (one as { id: string }).id === id)
      assert.deepStrictEqual(item, full.at("data"))
      assert.strictEqual(full.text("data.attributes.0.title"), "Sock")
      assert.strictEqual(full.list("data.variants").length, 1)
      assert.strictEqual(full.text("data.variants.0.optionValueIds.0"), full.text("data.optionTypes.0.values.0.id"))
      assert.strictEqual(full.text("data.categories.0.categoryId").length, 36)
      assert.deepStrictEqual(full.at("data.categories.0.metadata"), { title: "Feet" })
      assert.strictEqual(full.text("data.brands.0.displayName"), "Acme")
      assert.deepStrictEqual(full.at("data.media"), [])
      assert.deepStrictEqual(Object.keys(full.at("data.pricing.0") as object).toSorted(), priceKeys)
      assert.deepStrictEqual([full.at("data.pricing.0.amount"), full.at("data.pricing.0.currency")], [1999, "USD"])
      assert.deepStrictEqual(full.at("data.inventory"), [{ variantId: null, available: 5 }])
      const kept = yield* api("GET", `${entities}/${slug}?include=inventory`, { as: asAdmin })
      const { warehouseId: _, ...level } = kept.at("data.inventory.0") as Record<string, unknown>
      assert.deepStrictEqual(level, { variantId: null, onHand: 7, reserved: 2, available: 5 })
    }))

  it.effect("a read shows shoppers the prices that hold now for them, and staff all of them", () =>
    Effect.gen(function*() {
      const { id, slug } = yield* make({ status: "active" })
      const [member, vip] = [`member-${newId()}`, newId()]
      yield* onDatabase((sql) =>
        Effect.gen(function*() {
          yield* sql`insert into customers (id, organization_id, user_id, group_ids)
            select ${newId()}::uuid, organization_id, ${member}, array[${vip}] from catalog_entities where id = ${id}`
          yield* sql`insert into prices (id, organization_id, entity_id, currency, amount, customer_group_id,
              valid_from, valid_until)
            select gen_random_uuid(), e.organization_id, e.id, 'USD', p.* from catalog_entities e, (values
              (100, null, null, null), (90, ${vip}, null, null), (80, 'others', null, null),
              (70, null, now() + interval '1 day', null), (60, null, null, now() - interval '1 day')
              ) p(amount, "group", starts, ends) where e.id = ${id}`
        })
      )
      const amounts = (as?: typeof asAdmin) =>
        Effect.gen(function*() {
          const asked = as === undefined ? {} : { as }
          const one = yield* api("GET", `${entities}/${slug}?include=pricing`, asked)
          const listed = yield* api("GET", `${entities}?ids=${id}&include=pricing`, asked)
          const item = listed.list("data").find((entity) => (entity as { id: string }).id === id)
          if (item !== undefined) assert.deepStrictEqual(item, one.at("data"))
          return one.list("data.pricing").map((price) => (price as { amount: number }).amount).toSorted()
        })
      assert.deepStrictEqual(yield* amounts(), [100])
      assert.deepStrictEqual(yield* amounts(shopper), [100])
      assert.deepStrictEqual(yield* amounts(asCustomer(member)), [100, 90])
      assert.deepStrictEqual(yield* amounts(asAdmin), [100, 60, 70, 80, 90])
    }))
})

const priceKeys = [
  "amount",
  "compareAtAmount",
  "createdAt",
  "currency",
  "customerGroupId",
  "id",
  "maxQuantity",
  "minQuantity",
  "validFrom",
  "validUntil",
  "variantId"
]

/** A category, a brand, an option with a variant, a price and stock. */
const fillIn = Effect.fnUntraced(function*(id: string) {
  const as = asAdmin
  const category = yield* api("POST", categories, { as, body: { slug: newId(), metadata: { title: "Feet" } } })
  yield* api("POST", `${entities}/${id}/categories/${category.text("data.id")}`, { as })
  const brand = yield* api("POST", brands, { as, body: { slug: newId(), displayName: "Acme" } })
  yield* api("POST", `${entities}/${id}/brands/${brand.text("data.id")}`, { as })
  yield* api("POST", `${entities}/${id}/options`, { as, body: { name: "size", values: ["m"] } })
  yield* api("POST", `${entities}/${id}/variants`, { as, body: { options: { size: "m" } } })
  yield* onDatabase((sql, organizationId) =>
    Effect.gen(function*() {
      const warehouseId = newId()
      yield* sql`insert into prices (id, organization_id, entity_id, currency, amount)
        values (${newId()}::uuid, ${organizationId}, ${id}::uuid, 'USD', 1999)`
      yield* sql`insert into warehouses (id, organization_id, name, code)
        values (${warehouseId}::uuid, ${organizationId}, 'w', ${warehouseId})`
      yield* sql`insert into stock_items (organization_id, sellable_id) values (${organizationId}, ${id}::uuid)`
      yield* sql`insert into stock_levels (id, organization_id, sellable_id, warehouse_id, entity_id, on_hand, reserved)
        values (${newId()}::uuid, ${organizationId}, ${id}::uuid, ${warehouseId}::uuid, ${id}::uuid, 7, 2)`
    })
  )
})
