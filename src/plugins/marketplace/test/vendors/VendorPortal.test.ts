import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { onDatabase, openElsewhere } from "../../../../../test/checkout/CheckoutFixtures.ts"
import { aProduct } from "../../../../../test/support/Purchase.ts"
import { api, inOrganization } from "../../../../../test/support/TestApp.ts"
import { asVendor } from "../MarketBuilder.ts"
import { admin, aDocument, aVendor, portal, refusal, withMarketplace } from "../VendorShop.ts"

const routes = [
  ["GET", ""],
  ["PATCH", "", { name: "Mine" }],
  ["GET", "/documents"],
  ["POST", "/documents", aDocument()],
  ["GET", "/products"]
] as const

withMarketplace()("the portal of vendors", (it) => {
  it.effect("shows a vendor itself, and lets it say who it is and where its money goes, without showing that", () =>
    Effect.gen(function*() {
      const id = yield* aVendor({ bankAccount: { iban: "OLD-IBAN" } })
      const changed = yield* portal(id, "PATCH", "", {
        name: "We",
        description: "Potters.",
        contactEmail: "we@example.com",
        bankAccount: { iban: "NEW-IBAN" },
        metadata: { kiln: 2 }
      })
      assert.deepInclude(changed.at("data"), {
        id,
        name: "We",
        description: "Potters.",
        email: "we@example.com",
        contactEmail: "we@example.com",
        metadata: { kiln: 2 }
      })
      const read = yield* portal(id, "GET", "")
      assert.deepStrictEqual(read.at("data"), changed.at("data"))
      assert.notMatch(JSON.stringify([read.body, changed.body]), /IBAN|bankAccount"/)
      const [kept] = yield* onDatabase((sql) =>
        sql`select bank_account->>'iban' as iban from marketplace_vendor_secrets
          where vendor_id = ${id}::uuid`
      )
      assert.strictEqual(kept?.["iban"], "NEW-IBAN")
    }))

  it.effect("keeps the bank account of a suspended vendor as it was, and lets it say the rest", () =>
    Effect.gen(function*() {
      const id = yield* aVendor({ bankAccount: { iban: "OLD-IBAN" } })
      yield* admin("POST", `/${id}/approve`)
      yield* admin("POST", `/${id}/suspend`, { reason: "under investigation" })
      const moved = portal(id, "PATCH", "", { name: "New", bankAccount: { iban: "NEW-IBAN" } })
      assert.deepStrictEqual(yield* refusal(moved), [403, "FORBIDDEN"])
      const ibans = onDatabase((sql) =>
        sql`select bank_account->>'iban' as iban from marketplace_vendor_secrets
          where vendor_id = ${id}::uuid`
      )
      assert.deepStrictEqual(yield* ibans, [{ iban: "OLD-IBAN" }])
      const described = yield* portal(id, "PATCH", "", { description: "Closed for now." })
      assert.deepInclude(described.at("data"), { description: "Closed for now.", status: "suspended" })
      yield* admin("POST", `/${id}/reinstate`)
      assert.strictEqual((yield* portal(id, "PATCH", "", { bankAccount: { iban: "NEW-IBAN" } })).status, 200)
      assert.deepStrictEqual(yield* ibans, [{ iban: "NEW-IBAN" }])
    }))

  it.effect("leaves to the store what the store decides: status, tier, share, payouts, keys", () =>
    Effect.gen(function*() {
      const id = yield* aVendor()
      const before = yield* admin("GET", `/${id}`)
      yield* portal(id, "PATCH", "", {
        status: "approved",
        verificationStatus: "verified",
        tier: "platinum",
        commissionRateBps: 0,
        payoutMinimumCents: 0,
        payoutSchedule: "daily",
        holdbackDays: 0,
        performanceScore: 100,
        slug: "taken-over",
        storeAccessToken: "mine",
        organizationId: "org_other"
      })
      const { updatedAt: _, ...after } = Object((yield* admin("GET", `/${id}`)).at("data"))
      const { updatedAt: __, ...was } = Object(before.at("data"))
      assert.deepStrictEqual(after, was)
      const secrets = yield* onDatabase((sql) => sql`select 1 from marketplace_vendor_secrets where vendor_id = ${id}`)
      assert.strictEqual(secrets.length, 0)
    }))

  it.effect("the portal accepts documents, and shows only those of the vendor", () =>
    Effect.gen(function*() {
      const [id, other] = [yield* aVendor(), yield* aVendor()]
      const made = yield* portal(id, "POST", "/documents", aDocument("tax_form"))
      assert.deepStrictEqual([made.status, made.at("data.vendorId")], [201, id])
      yield* portal(other, "POST", "/documents", aDocument())
      const list = yield* portal(id, "GET", "/documents")
      assert.deepStrictEqual(list.at("data"), [made.at("data")])
      assert.strictEqual((yield* portal(id, "GET", "")).at("data.verificationStatus"), "documents_submitted")
      assert.strictEqual(
        (yield* api(
          "POST",
          `/api/marketplace/vendors/${id}/documents/${made.text("data.id")}/approve`,
          { as: asVendor(id) }
        )).status,
        403
      )
    }))

  it.effect("lists what the vendor sells, as the catalog has it", () =>
    Effect.gen(function*() {
      const [id, other] = [yield* aVendor(), yield* aVendor()]
      const [cup, plate] = [yield* aProduct({ slug: "cup" }), yield* aProduct({ slug: "plate" })]
      for (const entityId of [cup, plate]) yield* admin("POST", `/${id}/products`, { entityId })
      yield* admin("POST", `/${other}/products`, { entityId: yield* aProduct() })
      const list = yield* portal(id, "GET", "/products?limit=1&page=2")
      assert.deepInclude(list.at("meta.pagination"), { page: 2, limit: 1, total: 2 })
      assert.deepInclude(list.at("data.0"), {
        entityId: cup,
        slug: "cup",
        status: "active",
        type: "product",
        title: "Title of cup"
      })
      const beyond = yield* portal(id, "GET", "/products?page=9")
      assert.deepStrictEqual([beyond.at("data"), beyond.at("meta.pagination.total")], [[], 2])
    }))

  it.effect("finds neither a vendor of another store nor a deleted one", () =>
    Effect.gen(function*() {
      yield* openElsewhere
      const id = yield* aVendor()
      for (const [method, rest, body] of routes) {
        const address = `/api/marketplace/vendor/me${rest}`
        const sent = body === undefined ? {} : { body }
        const says = `${method} ${address}`
        const away = inOrganization("org_other", asVendor(id))
        assert.strictEqual((yield* api(method, address, { ...sent, as: away })).status, 404, says)
        const gone = asVendor(randomUUID())
        assert.strictEqual((yield* api(method, address, { ...sent, as: gone })).status, 404, says)
      }
      assert.deepStrictEqual(yield* refusal(portal(id, "PATCH", "", { name: "" })), [422, "VALIDATION_FAILED"])
    }))
})
