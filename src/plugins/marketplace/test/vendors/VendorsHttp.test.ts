import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { onDatabase, openElsewhere } from "../../../../../test/checkout/CheckoutFixtures.ts"
import { api, asAdmin } from "../../../../../test/support/TestApp.ts"
import { admin, aDocument, announced, aVendor, outsider, path, refusal, withMarketplace } from "../VendorShop.ts"

const account = { accountHolder: "Ada", iban: "CH93 0076 2011 6238 5295 7" }
const hidden = {
  bankAccount: account,
  storeAccessToken: "token-of-the-shop",
  storeConsumerSecret: "secret-of-the-shop",
  storeWebhookSecret: "webhook-of-the-shop"
}
const words = [account.iban, hidden.storeAccessToken, hidden.storeConsumerSecret, hidden.storeWebhookSecret]

withMarketplace()("vendors", (it) => {
  it.effect("vendors are made pending and unverified, with the defaults of the store and a slug of their name", () =>
    Effect.gen(function*() {
      const made = yield* admin("POST", "", { name: "Zoë's  Wares & Co.", contactEmail: "zoe@example.com" })
      assert.strictEqual(made.status, 201)
      assert.deepInclude(made.at("data"), {
        slug: "zo-s-wares-co",
        status: "pending",
        verificationStatus: "unverified",
        email: "zoe@example.com",
        contactEmail: "zoe@example.com",
        tier: "standard",
        commissionRateBps: 1000,
        payoutMinimumCents: 5000,
        payoutSchedule: "weekly",
        holdbackDays: 7,
        performanceScore: 100
      })
      const read = yield* admin("GET", `/${made.text("data.id")}`)
      assert.deepStrictEqual([read.status, read.at("data")], [200, made.at("data")])
    }))

  it.effect("vendors have one slug each, also when two are made at once, and another store's do not count", () =>
    Effect.gen(function*() {
      const two = yield* Effect.all([
        admin("POST", "", { name: "Same Name" }),
        admin("POST", "", { name: "Same Name" })
      ], {
        concurrency: 2
      })
      assert.deepStrictEqual(two.map(({ status }) => status).sort(), [201, 409])
      assert.deepStrictEqual(
        yield* refusal(admin("POST", "", { name: "Other", slug: "same-name" })),
        [409, "CONFLICT"]
      )
      yield* openElsewhere
      assert.strictEqual((yield* api("POST", path(), { as: outsider, body: { name: "Same Name" } })).status, 201)
      assert.match((yield* admin("POST", "", { name: "工房" })).text("data.slug"), /^vendor-[0-9a-f]{12}$/)
    }))

  it.effect("vendors refuse bodies that say nothing sensible, and change nothing", () =>
    Effect.gen(function*() {
      const bodies = [
        {},
        { name: "" },
        { name: "A", slug: "Not A Slug" },
        { name: "A", email: "no-address" },
        { name: "A", commissionRateBps: 10_001 },
        { name: "A", commissionRateBps: -1 },
        { name: "A", tier: "tin" },
        { name: "A", payoutMinimumCents: -1 },
        { name: "A", logoUrl: "javascript:alert(1)" }
      ]
      const before = (yield* admin("GET", "")).number("meta.pagination.total")
      for (const body of bodies) {
        assert.deepStrictEqual(
          yield* refusal(admin("POST", "", body)),
          [422, "VALIDATION_FAILED"],
          JSON.stringify(body)
        )
      }
      for (const body of [{}, { reason: "" }]) {
        const rejected = admin("POST", `/${yield* aVendor()}/reject`, body)
        assert.deepStrictEqual(yield* refusal(rejected), [422, "VALIDATION_FAILED"])
      }
      assert.strictEqual((yield* admin("GET", "")).number("meta.pagination.total"), before + 2)
    }))

  it.effect("vendors are changed where a field is named, and cleared by null", () =>
    Effect.gen(function*() {
      const id = yield* aVendor({ email: "old@example.com", description: "Old", metadata: { a: 1 } })
      const changed = yield* admin("PATCH", `/${id}`, {
        name: "New",
        contactEmail: "new@example.com",
        description: "Made by hand. ".repeat(50),
        commissionRateBps: 0,
        tier: "gold",
        metadata: { b: 2 },
        businessAddress: { line1: "Main Street 1", country: "CH" }
      })
      assert.deepInclude(changed.at("data"), {
        name: "New",
        email: "new@example.com",
        contactEmail: "new@example.com",
        commissionRateBps: 0,
        tier: "gold",
        metadata: { b: 2 },
        businessAddress: { line1: "Main Street 1", country: "CH" }
      })
      const cleared = yield* admin("PATCH", `/${id}`, { email: null, description: null })
      assert.deepInclude(cleared.at("data"), { name: "New", email: null, contactEmail: null, description: null })
      assert.deepStrictEqual(yield* refusal(admin("PATCH", `/${randomUUID()}`, { name: "X" })), [404, "NOT_FOUND"])
    }))

  it.effect("vendors are found by status, tier and a part of name or address", () =>
    Effect.gen(function*() {
      const gold = yield* aVendor({ name: "Quokka Crafts", email: "crafts@quoll.example", tier: "gold" })
      const plain = yield* aVendor({ name: "100%_Quokka", email: "x@example.com" })
      yield* admin("POST", `/${plain}/approve`)
      const found = (query: string) =>
        Effect.map(admin("GET", `?${query}`), (list) => list.list("data").map((row) => Reflect.get(Object(row), "id")))
      assert.deepStrictEqual(yield* found("search=QUOKKA"), [plain, gold])
      assert.deepStrictEqual(yield* found("search=quoll.ex"), [gold])
      assert.deepStrictEqual(yield* found("search=%25_q"), [plain])
      assert.deepStrictEqual(yield* found("search=quokka&status=approved"), [plain])
      assert.deepStrictEqual(yield* found("search=quokka&tier=gold"), [gold])
      assert.notInclude(yield* found("status=approved&limit=100"), gold)
      assert.notInclude(yield* found("tier=gold&limit=100"), plain)
      const page = yield* admin("GET", "?search=quokka&limit=1&page=2")
      assert.deepInclude(page.at("meta.pagination"), { page: 2, limit: 1, total: 2, totalPages: 2 })
      assert.strictEqual(page.at("data.0.id"), gold)
      assert.strictEqual((yield* admin("GET", "?status=unheard-of")).status, 422)
      yield* openElsewhere
      const elsewhere = yield* api("GET", path("?search=quokka"), { as: outsider })
      assert.deepStrictEqual([elsewhere.at("data"), elsewhere.at("meta.pagination.total")], [[], 0])
    }))

  it.effect("vendors keep bank accounts and keys of shops to themselves: no answer, list, entry or event shows them", () =>
    Effect.gen(function*() {
      const made = yield* admin("POST", "", { name: "Secretive", ...hidden })
      const id = made.text("data.id")
      const changed = yield* admin("PATCH", `/${id}`, { ...hidden, bankAccount: { ...account, swift: "POFICHBE" } })
      const answers = [
        made,
        changed,
        yield* admin("GET", `/${id}`),
        yield* admin("GET", "?limit=100"),
        yield* admin("POST", `/${id}/approve`),
        yield* api("GET", "/api/audit?limit=100", { as: asAdmin }),
        yield* api("GET", `/api/audit/${encodeURIComponent("marketplace/marketplace_vendors")}/${id}`, { as: asAdmin })
      ]
      for (const answer of answers) {
        assert.oneOf(answer.status, [200, 201])
        for (const word of [...words, "POFICHBE"]) assert.notInclude(JSON.stringify(answer.body), word)
      }
      assert.isString(changed.at("data.bankAccountChangedAt"))
      const [kept] = yield* onDatabase((sql) =>
        sql`select bank_account as account, store_access_token as token
          from marketplace_vendor_secrets where vendor_id = ${id}::uuid`
      )
      assert.deepStrictEqual([kept?.["account"], kept?.["token"]], [
        { ...account, swift: "POFICHBE" },
        hidden.storeAccessToken
      ])
      const changeLog = yield* onDatabase((sql) =>
        sql`select count(*) as found from outbox_events
          where payload::text ~ 'of-the-shop|POFICHBE' or before::text ~ 'of-the-shop|POFICHBE'`
      )
      assert.strictEqual(Number(changeLog[0]?.["found"]), 0)
    }))

  it.effect("vendors do not exist for operators of another store", () =>
    Effect.gen(function*() {
      yield* openElsewhere
      const id = yield* aVendor()
      const before = yield* admin("GET", `/${id}`)
      const reason = { reason: "No." }
      const bodies = { approve: {}, reject: reason, suspend: reason, reinstate: {}, documents: aDocument() }
      const requests = Object.entries(bodies).map(([name, body]) => ["POST", `/${id}/${name}`, body] as const)
      for (const [method, rest, body] of [...requests, ["PATCH", `/${id}`, { name: "Mine" }] as const]) {
        assert.strictEqual((yield* api(method, path(rest), { as: outsider, body })).status, 404, rest)
      }
      assert.deepStrictEqual((yield* admin("GET", `/${id}`)).at("data"), before.at("data"))
    }))
})

withMarketplace({
  defaultCommissionRateBps: 250,
  defaultPayoutMinimumCents: 1,
  defaultPayoutSchedule: "monthly",
  defaultHoldbackDays: 30,
  vendorApprovalMode: "auto"
})("a store with other settings", (it) => {
  it.effect("gives new vendors its terms, unless they are named, and approves them by itself", () =>
    Effect.gen(function*() {
      const made = yield* admin("POST", "", { name: "Usual" })
      assert.deepInclude(made.at("data"), {
        commissionRateBps: 250,
        payoutMinimumCents: 1,
        payoutSchedule: "monthly",
        holdbackDays: 30,
        status: "approved"
      })
      const special = yield* admin("POST", "", { name: "Special", commissionRateBps: 0, holdbackDays: 0 })
      assert.deepInclude(special.at("data"), { commissionRateBps: 0, holdbackDays: 0 })
      assert.strictEqual(yield* announced("vendor.approved", made.text("data.id")), 1)
    }))
})
