import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { aForeignProduct, openElsewhere } from "../../../../../test/checkout/CheckoutFixtures.ts"
import { aProduct } from "../../../../../test/support/Purchase.ts"
import { type Answer, api, asAdmin, asStaff, inOrganization } from "../../../../../test/support/TestApp.ts"
import { beforeHook } from "../../../../domain/hooks/Hook.ts"
import { asVendor } from "../MarketBuilder.ts"
import { admin, anApprovedVendor, aVendor, outsider, path, refusal, suspend, withMarketplace } from "../VendorShop.ts"

let things = 0

/** Puts a thing into the catalog that claims to be a vendor's. */
const create = (as: object, vendorId?: unknown) =>
  api("POST", "/api/catalog/entities", {
    as,
    body: {
      type: "product",
      slug: `thing-${++things}`,
      status: "active",
      ...vendorId === undefined ? {} : { metadata: { vendorId, kept: true } }
    }
  })

/** Staff of the store who acts for a vendor. */
const clerkOf = (vendorId: string) => ({ ...asStaff, userId: `clerk-of-${vendorId}`, vendorId, vendorRole: "staff" })

const productsOf = (vendorId: string) =>
  Effect.map(
    admin("GET", `/${vendorId}/products?limit=100`),
    (list) => list.list("data").map((row) => Reflect.get(Object(row), "entityId"))
  )

const ids = (answer: Answer) => answer.list("data").map((row) => Reflect.get(Object(row), "id"))

const vendorShown = (id: string) =>
  Effect.map(api("GET", `/api/catalog/entities/${id}`), (read) => read.at("data.marketplace"))

withMarketplace()("a thing of the catalog", (it) => {
  it.effect("an entity is its vendor's from its making on, when its metadata says so", () =>
    Effect.gen(function*() {
      const vendorId = yield* anApprovedVendor()
      const made = yield* create(asAdmin, vendorId.toUpperCase())
      assert.strictEqual(made.status, 201, JSON.stringify(made.body))
      assert.deepStrictEqual(made.at("data.metadata"), { vendorId, kept: true })
      assert.deepStrictEqual(yield* productsOf(vendorId), [made.at("data.id")])
    }))

  it.effect("an entity is refused for a vendor that is unknown, of another store, or not approved; nothing is made", () =>
    Effect.gen(function*() {
      yield* openElsewhere
      const elsewhere = (yield* api("POST", path(), { as: outsider, body: { name: "Far" } })).text("data.id")
      yield* api("POST", path(`/${elsewhere}/approve`), { as: outsider })
      const suspended = yield* anApprovedVendor()
      yield* suspend(suspended)
      const before = (yield* api("GET", "/api/catalog/entities", { as: asAdmin })).number("meta.pagination.total")
      for (const claim of [randomUUID(), elsewhere, yield* aVendor(), suspended, "nonsense", 7, {}]) {
        const answer = yield* create(asAdmin, claim)
        assert.deepStrictEqual([answer.status, answer.at("error.code")], [422, "VALIDATION_FAILED"], String(claim))
      }
      const after = (yield* api("GET", "/api/catalog/entities", { as: asAdmin })).number("meta.pagination.total")
      assert.strictEqual(after, before)
    }))

  it.effect("does not let staff claim an entity for another vendor", () =>
    Effect.gen(function*() {
      const [own, other] = [yield* anApprovedVendor(), yield* anApprovedVendor()]
      const clerk = clerkOf(own)
      assert.strictEqual((yield* create(clerk, own)).status, 201)
      const refused = yield* create(clerk, other)
      assert.strictEqual(refused.status, 422)
      assert.include(refused.text("error.message"), "marketplace:admin")
      assert.deepStrictEqual(yield* refusal(create(asStaff, other)), [422, "VALIDATION_FAILED"])
      assert.deepStrictEqual(yield* productsOf(other), [])
      const trusted = { ...asStaff, permissions: [...asStaff.permissions ?? [], "marketplace:admin"] }
      assert.strictEqual((yield* create(trusted, other)).status, 201)
      const unclaimed = yield* create(clerk)
      assert.strictEqual(unclaimed.at("data.metadata.vendorId"), own)
      assert.include(yield* productsOf(own), unclaimed.at("data.id"))
      const ofTheStore = yield* create(asStaff)
      assert.isUndefined(yield* vendorShown(ofTheStore.text("data.id")))
    }))

  it.effect("shows its vendor when it is read, alone and in lists, and the store's own show none", () =>
    Effect.gen(function*() {
      const vendorId = yield* anApprovedVendor({ name: "Kiln", slug: "kiln", logoUrl: "https://a.example/l.png" })
      const made = (yield* create(asAdmin, vendorId)).text("data.id")
      const plain = yield* aProduct()
      const vendor = {
        id: vendorId,
        name: "Kiln",
        slug: "kiln",
        status: "approved",
        tier: "standard",
        logoUrl: "https://a.example/l.png"
      }
      assert.deepStrictEqual(yield* vendorShown(made), { vendor })
      assert.isUndefined(yield* vendorShown(plain))
      const list = yield* api("GET", "/api/catalog/entities?limit=2")
      assert.deepStrictEqual(ids(list), [plain, made])
      assert.deepStrictEqual([list.at("data.0.marketplace"), list.at("data.1.marketplace")], [undefined, { vendor }])
    }))

  it.effect("lets operators assign an entity to one vendor at a time, and take it back", () =>
    Effect.gen(function*() {
      const [one, two] = [yield* anApprovedVendor(), yield* anApprovedVendor()]
      const entityId = yield* aProduct()
      const give = (to: string) => admin("POST", `/${to}/products`, { entityId })
      const both = yield* Effect.all([give(one), give(two)], { concurrency: 2 })
      assert.deepStrictEqual(both.map(({ status }) => status).sort(), [201, 409])
      const [owner = "", other = ""] = both[0].status === 201 ? [one, two] : [two, one]
      assert.deepStrictEqual(yield* productsOf(owner), [entityId])
      assert.strictEqual((yield* admin("DELETE", `/${other}/products/${entityId}`)).status, 404)
      assert.strictEqual((yield* admin("DELETE", `/${owner}/products/${entityId}`)).status, 200)
      assert.isUndefined(yield* vendorShown(entityId))
      assert.strictEqual((yield* give(other)).status, 201)
      const foreign = yield* aForeignProduct("far-away")
      for (const unknown of [randomUUID(), foreign]) {
        assert.strictEqual((yield* admin("POST", `/${one}/products`, { entityId: unknown })).status, 404)
      }
      assert.strictEqual((yield* admin("POST", `/${randomUUID()}/products`, { entityId })).status, 404)
      const there = yield* api("POST", path(`/${one}/products`), { as: outsider, body: { entityId: foreign } })
      assert.strictEqual(there.status, 404)
      assert.notInclude(yield* productsOf(one), foreign)
    }))

  it.effect("keeps an entity with its vendor when its metadata changes, and with no vendor once it is deleted", () =>
    Effect.gen(function*() {
      const [one, two] = [yield* anApprovedVendor(), yield* anApprovedVendor()]
      const made = (yield* create(asAdmin, one)).text("data.id")
      const change = (metadata: object) =>
        api("PATCH", `/api/catalog/entities/${made}`, { as: asAdmin, body: { metadata } })
      assert.deepStrictEqual(yield* refusal(change({ vendorId: two })), [422, "VALIDATION_FAILED"])
      for (const kept of [{ vendorId: one.toUpperCase() }, { other: 1 }]) {
        assert.strictEqual((yield* change(kept)).status, 200)
      }
      assert.deepStrictEqual([yield* productsOf(one), yield* productsOf(two)], [[made], []])
      assert.strictEqual((yield* api("DELETE", `/api/catalog/entities/${made}`, { as: asAdmin })).status, 200)
      assert.deepStrictEqual(yield* productsOf(one), [])
    }))

  it.effect("an entity is listed for its vendor's people alone, in whole pages and with the right total", () =>
    Effect.gen(function*() {
      const [own, other] = [yield* anApprovedVendor(), yield* anApprovedVendor()]
      const mine: Array<unknown> = []
      for (let n = 0; n < 3; n++) {
        mine.unshift((yield* create(asAdmin, own)).at("data.id"))
        yield* create(asAdmin, other)
      }
      const list = (as: object, query: string) => api("GET", `/api/catalog/entities?${query}`, { as })
      const first = yield* list(asVendor(own), "limit=2")
      assert.deepStrictEqual(ids(first), mine.slice(0, 2))
      assert.deepInclude(first.at("meta.pagination"), { total: 3, totalPages: 2 })
      assert.deepStrictEqual(ids(yield* list(asVendor(own), "limit=2&page=2&type=product")), mine.slice(2))
      const empty = yield* list(asVendor(yield* anApprovedVendor()), "limit=2")
      assert.deepStrictEqual([ids(empty), empty.at("meta.pagination.total")], [[], 0])
      const all = yield* list({ ...asAdmin, vendorId: own }, "limit=100")
      assert.isAbove(all.list("data").length, 6)
    }))

  it.effect("an entity is listed for people of another store's vendor as for any shopper", () =>
    Effect.gen(function*() {
      const foreign = yield* aForeignProduct("seen-by-visitors")
      const own = yield* anApprovedVendor()
      const seen = yield* api("GET", "/api/catalog/entities", { as: inOrganization("org_other", asVendor(own)) })
      assert.include(ids(seen), foreign)
    }))
})

/** A hook of the deployment's that says after the marketplace's whose a thing is. */
const meddling = beforeHook("catalog.product.beforeCreate", ({ data }) => ({
  metadata: { ...data.metadata, vendorId: data.slug.slice("for-".length) }
}))

withMarketplace({}, { hooks: [meddling] })(
  "a thing of which another hook says later whose it is",
  (it) => {
    it.effect("a thing of which another hook says later whose it is is given only to a vendor whom its maker may name", () =>
      Effect.gen(function*() {
        const [pending, approved] = [yield* aVendor(), yield* anApprovedVendor()]
        for (const [as, vendorId] of [[asAdmin, pending], [asStaff, approved], [asAdmin, "not-an-id"]] as const) {
          const made = yield* api("POST", "/api/catalog/entities", {
            as,
            body: { type: "product", slug: `for-${vendorId}` }
          })
          assert.strictEqual(made.status, 201)
          if (vendorId !== "not-an-id") assert.deepStrictEqual(yield* productsOf(vendorId), [])
        }
      }))
  }
)
