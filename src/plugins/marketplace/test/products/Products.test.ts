import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { aForeignProduct } from "../../../../../test/checkout/CheckoutFixtures.ts"
import { aCartWith, addTo, aGuestCart, aProduct, checkOut, putInto } from "../../../../../test/support/Purchase.ts"
import { asAdmin, asStaff } from "../../../../../test/support/TestApp.ts"
import { beforeHook } from "../../../../domain/platform/hooks/Hook.ts"
import { assertOnce, asVendor, done, each, refused, send, statusOf, type Who } from "../Calls.ts"
import { aCategory, aProductOf, aVendor } from "../Goods.ts"
import { market } from "../Market.ts"

const [missing, invalid] = ["404 NOT_FOUND", "422 VALIDATION_FAILED"]
let things = 0

/** A thing of the catalog that claims to be a vendor's. */
const thing = (vendorId?: unknown) => ({
  type: "product",
  slug: `thing-${++things}`,
  status: "active",
  ...vendorId === undefined ? {} : { metadata: { vendorId, kept: true } }
})
const create = (as: Who, vendorId?: unknown) => done(as, "POST /api/catalog/entities", thing(vendorId))
const change = (id: string, metadata: object) => [asAdmin, `PATCH /api/catalog/entities/${id}`, { metadata }] as const

/** Staff of the store who acts for a vendor. */
const clerkOf = (vendorId: string) => ({ ...asStaff, userId: `clerk-of-${vendorId}`, vendorId, vendorRole: "staff" })
const productsOf = (vendorId: string) =>
  Effect.map(done(asAdmin, `GET /vendors/${vendorId}/products?limit=100`), (list) => each(list, "entityId"))
const vendorShown = (id: string) =>
  Effect.map(done(undefined, `GET /api/catalog/entities/${id}`), (read) => read.at("data.marketplace"))

market()("an entity of the catalog", (test) => {
  test("is its vendor's from its making on, when its metadata says so", function*() {
    const vendorId = yield* aVendor()
    const made = yield* create(asAdmin, vendorId.toUpperCase())
    assert.deepStrictEqual(made.at("data.metadata"), { vendorId, kept: true })
    assert.deepStrictEqual(yield* productsOf(vendorId), [made.at("data.id")])
  })

  test("is refused for a vendor that is unknown, of another store, or not approved; nothing is made", function*() {
    const [far, pending] = [yield* aVendor({ within: "org_other" }), yield* aVendor({ status: "pending" })]
    const suspended = yield* aVendor({ status: "suspended" })
    const total = Effect.map(done(asAdmin, "GET /api/catalog/entities"), ({ at }) => at("meta.pagination.total"))
    const before = yield* total
    for (const claim of [randomUUID(), far, pending, suspended, "nonsense", 7, {}]) {
      yield* refused(invalid, asAdmin, "POST /api/catalog/entities", thing(claim))
    }
    assert.strictEqual(yield* total, before)
  })

  test("is claimed by staff for their vendor alone, which their things are without a word", function*() {
    const [own, other] = [yield* aVendor(), yield* aVendor()]
    yield* create(clerkOf(own), own)
    for (const as of [clerkOf(own), asStaff]) yield* refused(invalid, as, "POST /api/catalog/entities", thing(other))
    assert.deepStrictEqual(yield* productsOf(other), [])
    yield* create({ ...asStaff, permissions: [...asStaff.permissions ?? [], "marketplace:admin"] }, other)
    const unclaimed = yield* create(clerkOf(own))
    assert.strictEqual(unclaimed.at("data.metadata.vendorId"), own)
    assert.include(yield* productsOf(own), unclaimed.at("data.id"))
    assert.isUndefined(yield* vendorShown((yield* create(asStaff)).text("data.id")))
  })

  test("shows its vendor when it is read, alone and in lists, and the store's own show none", function*() {
    const shown = { name: "Kiln", slug: "kiln", logoUrl: "https://a.example/l.png" }
    const id = yield* aVendor(shown)
    const [made, plain] = [(yield* create(asAdmin, id)).text("data.id"), yield* aProduct()]
    const vendor = { ...shown, id, status: "approved", tier: "standard" }
    assert.deepStrictEqual([yield* vendorShown(made), yield* vendorShown(plain)], [{ vendor }, undefined])
    const list = yield* done(undefined, "GET /api/catalog/entities?limit=2")
    assert.deepStrictEqual([each(list, "id"), each(list, "marketplace")], [[plain, made], [undefined, { vendor }]])
  })

  test("is given by operators to one vendor at a time, of eight at once, and taken back", function*() {
    const [one, other, entityId] = [yield* aVendor(), yield* aVendor(), yield* aProduct()]
    yield* assertOnce(send(asAdmin, `POST /vendors/${one}/products`, { entityId }), 409)
    yield* refused("409 CONFLICT", asAdmin, `POST /vendors/${other}/products`, { entityId })
    assert.deepStrictEqual(yield* productsOf(one), [entityId])
    yield* refused(missing, asAdmin, `DELETE /vendors/${other}/products/${entityId}`)
    yield* done(asAdmin, `DELETE /vendors/${one}/products/${entityId}`)
    assert.isUndefined(yield* vendorShown(entityId))
    yield* done(asAdmin, `POST /vendors/${other}/products`, { entityId })
    const foreign = yield* aForeignProduct("far-away")
    for (const [to, id] of [[one, randomUUID()], [one, foreign], [randomUUID(), entityId]]) {
      yield* refused(missing, asAdmin, `POST /vendors/${to}/products`, { entityId: id })
    }
  })

  test("stays with its vendor when its metadata changes, and is no one's once it is deleted", function*() {
    const [one, two] = [yield* aVendor(), yield* aVendor()]
    const made = (yield* create(asAdmin, one)).text("data.id")
    yield* refused(invalid, ...change(made, { vendorId: two }))
    for (const kept of [{ vendorId: one.toUpperCase() }, { other: 1 }]) yield* done(...change(made, kept))
    assert.deepStrictEqual([yield* productsOf(one), yield* productsOf(two)], [[made], []])
    yield* done(asAdmin, `DELETE /api/catalog/entities/${made}`)
    assert.deepStrictEqual(yield* productsOf(one), [])
  })

  test("is listed for its vendor's people alone, in whole pages, and for all others as ever", function*() {
    const [own, other] = [yield* aVendor(), yield* aVendor()]
    const mine: Array<unknown> = []
    for (let n = 0; n < 3; n++) {
      mine.unshift((yield* create(asAdmin, own)).at("data.id"))
      yield* create(asAdmin, other)
    }
    const list = (as: Who, query: string) => done(as, `GET /api/catalog/entities?${query}`)
    const first = yield* list(asVendor(own), "limit=2")
    assert.deepInclude(first.at("meta.pagination"), { total: 3, totalPages: 2 })
    assert.deepStrictEqual(each(first, "id"), mine.slice(0, 2))
    assert.deepStrictEqual(each(yield* list(asVendor(own), "limit=2&page=2&type=product"), "id"), mine.slice(2))
    assert.deepStrictEqual(each(yield* list(asVendor(yield* aVendor()), "limit=2"), "id"), [])
    assert.isAbove((yield* list({ ...asAdmin, vendorId: own }, "limit=100")).list("data").length, 5)
    const foreign = yield* aForeignProduct("seen-by-visitors")
    assert.include(each(yield* list(asVendor(own, "owner", "org_other"), ""), "id"), foreign)
  })
})

/** A hook of the deployment's that says after the marketplace's whose a thing is. */
const meddling = beforeHook("catalog.product.beforeCreate", ({ data }) => ({
  metadata: { ...data.metadata, vendorId: data.slug.slice("for-".length) }
}))

market({}, { hooks: [meddling] })("a thing of which another hook says later whose it is", (test) => {
  test("is given only to a vendor whom its maker may name", function*() {
    const [pending, approved] = [yield* aVendor({ status: "pending" }), yield* aVendor()]
    for (const [as, claim] of [[asAdmin, pending], [asStaff, approved], [asAdmin, "not-an-id"]] as const) {
      yield* done(as, "POST /api/catalog/entities", { type: "product", slug: `for-${claim}` })
    }
    assert.deepStrictEqual([yield* productsOf(pending), yield* productsOf(approved)], [[], []])
  })
})

market()("what a vendor sells", (test) => {
  test("goes into no cart while the vendor is not approved", function*() {
    const cart = yield* aGuestCart()
    for (const status of ["pending", "rejected", "suspended"] as const) {
      const answer = yield* addTo(cart, yield* aProductOf(yield* aVendor({ status })))
      assert.deepStrictEqual([answer.status, answer.at("error.code")], [422, "VALIDATION_FAILED"])
      assert.include(answer.text("error.message"), "does not sell")
    }
    assert.strictEqual((yield* addTo(cart, yield* aProduct())).status, 201)
  })

  test("cannot be bought in any cart while the vendor is suspended, and can again afterwards", function*() {
    const vendorId = yield* aVendor()
    const cart = yield* aCartWith(yield* aProductOf(vendorId))
    yield* putInto(cart, yield* aProductOf(yield* aVendor()))
    yield* putInto(cart, yield* aProduct())
    yield* done(asAdmin, `POST /vendors/${vendorId}/suspend`, { reason: "Nothing arrives." })
    const answer = yield* checkOut(cart)
    assert.deepStrictEqual([answer.status, answer.at("error.code")], [422, "CHECKOUT_FAILED"])
    assert.include(answer.text("error.message"), "does not sell")
    yield* done(asAdmin, `POST /vendors/${vendorId}/reinstate`)
    assert.strictEqual(yield* statusOf(checkOut(cart)), 201)
  })
})

const into = (entityId: string, categoryId: string) => `POST /api/catalog/entities/${entityId}/categories/${categoryId}`

market()("a vendor with approved categories", (test) => {
  test("sells in these and below them: others are refused by name, to staff and administrators alike", function*() {
    const [shoes, hats] = [yield* aCategory("shoes"), yield* aCategory("hats")]
    const boots = yield* aCategory("boots", yield* aCategory("winter-shoes", shoes))
    const entityId = yield* aProductOf(yield* aVendor({ name: "Cobbler", approvedCategories: ["shoes", "to-come"] }))
    for (const as of [asStaff, asAdmin]) {
      const answer = yield* refused(invalid, as, into(entityId, hats))
      assert.include(
        answer.text("error.message"),
        `Cobbler may not sell in "hats". Approved categories: shoes, to-come.`
      )
    }
    for (const allowed of [shoes, boots, yield* aCategory("to-come")]) yield* done(asStaff, into(entityId, allowed))
    yield* refused(missing, asAdmin, into(entityId, randomUUID()))
  })

  test("gets no thing that lies elsewhere; without a list it sells everywhere, as the store does", function*() {
    const rings = yield* aCategory("rings")
    const [free, empty] = [yield* aVendor(), yield* aVendor({ approvedCategories: [] })]
    const bound = yield* aVendor({ approvedCategories: ["watches"] })
    const entityId = yield* aProduct()
    yield* done(asAdmin, into(entityId, rings))
    const list = (approvedCategories: ReadonlyArray<string>) =>
      done(asAdmin, `PATCH /vendors/${bound}`, { approvedCategories })
    yield* refused(invalid, asAdmin, `POST /vendors/${bound}/products`, { entityId })
    yield* refused(invalid, ...change(entityId, { vendorId: bound }))
    for (const vendorId of [free, empty]) {
      yield* done(asAdmin, `POST /vendors/${vendorId}/products`, { entityId })
      yield* done(asAdmin, `DELETE /vendors/${vendorId}/products/${entityId}`)
    }
    // A longer list lets it in; a shorter one takes nothing away.
    yield* list(["watches", "rings"])
    yield* done(...change(entityId, { vendorId: bound }))
    yield* list(["watches"])
    assert.deepStrictEqual(yield* productsOf(bound), [entityId])
    const read = yield* done(asAdmin, `GET /api/catalog/entities/${entityId}?include=categories`)
    assert.strictEqual(read.at("data.categories.0.slug"), "rings")
  })
})
