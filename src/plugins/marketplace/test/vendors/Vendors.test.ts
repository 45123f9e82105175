import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { onDatabase, openElsewhere } from "../../../../../test/checkout/CheckoutFixtures.ts"
import { aProduct } from "../../../../../test/support/Purchase.ts"
import { asAdmin, inOrganization } from "../../../../../test/support/TestApp.ts"
import { announced } from "../Books.ts"
import { assertOnce, asVendor, done, each, refused, refusedBodies, send } from "../Calls.ts"
import { aVendor } from "../Goods.ts"
import { market } from "../Market.ts"

const invalid = "422 VALIDATION_FAILED"
const account = { accountHolder: "Ada", iban: "CH93 0076 2011 6238 5295 7" }
const hidden = {
  bankAccount: account,
  storeAccessToken: "token-of-the-shop",
  storeConsumerSecret: "secret-of-the-shop",
  storeWebhookSecret: "webhook-of-the-shop"
}
const secretsOf = (id: string) =>
  onDatabase((sql) =>
    sql`select bank_account as account, store_access_token as token from marketplace_vendor_secrets
      where vendor_id = ${id}::uuid`
  )

market()("vendors", (test) => {
  test("are made pending, with the defaults of the store and a slug of their name", function*() {
    const made = yield* done(asAdmin, "POST /vendors", { name: "Zoë's  Wares & Co.", contactEmail: "zoe@example.com" })
    assert.deepInclude(made.at("data"), {
      slug: "zo-s-wares-co",
      status: "pending",
      verificationStatus: "unverified",
      email: "zoe@example.com",
      contactEmail: "zoe@example.com",
      commissionRateBps: 1000,
      payoutMinimumCents: 5000,
      payoutSchedule: "weekly",
      holdbackDays: 7
    })
    assert.match((yield* done(asAdmin, "POST /vendors", { name: "工房" })).text("data.slug"), /^vendor-[0-9a-f]{12}$/)
  })

  test("have one slug each, and another store's do not count", function*() {
    yield* assertOnce(send(asAdmin, "POST /vendors", { name: "Same Name" }), 409)
    yield* openElsewhere
    yield* done(inOrganization("org_other", asAdmin), "POST /vendors", { name: "Same Name" })
  })

  test("refuse bodies that say nothing sensible", function*() {
    const wrong = { name: "", slug: "Not A Slug", email: "no-address", tier: "tin", logoUrl: "javascript:alert(1)" }
    const amounts = [{ commissionRateBps: 10_001 }, { commissionRateBps: -1 }, { payoutMinimumCents: -1 }]
    const bodies = [...Object.entries(wrong).map(([field, value]) => ({ [field]: value })), ...amounts]
    yield* refusedBodies(invalid, asAdmin, "POST /vendors", [{}, ...bodies.map((body) => ({ name: "A", ...body }))])
    const id = yield* aVendor({ status: "pending" })
    yield* refusedBodies(invalid, asAdmin, `POST /vendors/${id}/reject`, [{}, { reason: "" }])
    yield* refused(invalid, asAdmin, "GET /vendors?status=unheard-of")
  })

  test("are changed where a field is named, and cleared by null", function*() {
    const id = yield* aVendor({ email: "old@example.com", description: "Old", metadata: { a: 1 } })
    const businessAddress = { city: "Bern" }
    const change = { name: "New", commissionRateBps: 0, tier: "gold", metadata: { b: 2 }, businessAddress }
    const changed = yield* done(asAdmin, `PATCH /vendors/${id}`, { ...change, contactEmail: "new@example.com" })
    const emails = { email: "new@example.com", contactEmail: "new@example.com" }
    assert.deepInclude(changed.at("data"), { ...change, ...emails, description: "Old" })
    const cleared = yield* done(asAdmin, `PATCH /vendors/${id}`, { email: null, description: null })
    assert.deepInclude(cleared.at("data"), { name: "New", email: null, contactEmail: null, description: null })
    yield* refused("404 NOT_FOUND", asAdmin, `PATCH /vendors/${randomUUID()}`, { name: "X" })
  })

  test("are found by status, tier and a part of name or address", function*() {
    const crafts = { name: "Quokka Crafts", email: "crafts@quoll.example" }
    const gold = yield* aVendor({ ...crafts, tier: "gold", status: "pending" })
    const plain = yield* aVendor({ name: "100%_Quokka" })
    const questions = [
      ["search=QUOKKA", [plain, gold]],
      ["search=quoll.ex", [gold]],
      ["search=%25_q", [plain]],
      ["search=quokka&status=approved", [plain]],
      ["search=quokka&tier=gold", [gold]],
      ["search=quokka&limit=1&page=2", [gold]]
    ] as const
    for (const [query, ids] of questions) {
      assert.deepStrictEqual(each(yield* done(asAdmin, `GET /vendors?${query}`), "id"), [...ids], query)
    }
  })

  test("keep bank accounts and keys to themselves: no answer, list, entry or event shows them", function*() {
    const made = yield* done(asAdmin, "POST /vendors", { name: "Secretive", ...hidden })
    const id = made.text("data.id")
    const moved = { ...account, swift: "POFICHBE" }
    const changed = yield* done(asAdmin, `PATCH /vendors/${id}`, { ...hidden, bankAccount: moved })
    const log = encodeURIComponent("marketplace/marketplace_vendors")
    const reads = [`/vendors/${id}`, "/vendors?limit=100", "/api/audit?limit=100", `/api/audit/${log}/${id}`]
    const answers = [made, changed, ...yield* Effect.forEach(reads, (path) => done(asAdmin, `GET ${path}`))]
    const shown = /CH93|of-the-shop|POFICHBE/
    for (const answer of answers) assert.notMatch(JSON.stringify(answer.body), shown)
    assert.isString(changed.at("data.bankAccountChangedAt"))
    assert.deepStrictEqual(yield* secretsOf(id), [{ account: moved, token: hidden.storeAccessToken }])
    const events = onDatabase((sql) =>
      sql`select 1 from outbox_events where concat(payload, before) ~ 'of-the-shop|POFICHBE'`
    )
    assert.deepStrictEqual(yield* events, [])
  })

  test("say why they were suspended and since when, and forget it when they are back", function*() {
    const id = yield* aVendor()
    const away = yield* done(asAdmin, `POST /vendors/${id}/suspend`, { reason: "Nothing arrives." })
    assert.strictEqual(away.at("data.suspensionReason"), "Nothing arrives.")
    assert.isString(away.at("data.suspendedAt"))
    const back = yield* done(asAdmin, `POST /vendors/${id}/reinstate`)
    assert.deepInclude(back.at("data"), { status: "approved", suspensionReason: null, suspendedAt: null })
  })
})

market()("the portal of vendors", (test) => {
  test("lets a vendor say who it is and where its money goes, without showing that", function*() {
    const id = yield* aVendor()
    const said = { name: "We", description: "Potters.", email: "we@example.com", metadata: { kiln: 2 } }
    const changed = yield* done(asVendor(id), "PATCH /vendor/me", { ...said, bankAccount: account })
    assert.deepInclude(changed.at("data"), { id, ...said, contactEmail: said.email })
    const read = yield* done(asVendor(id), "GET /vendor/me")
    assert.deepStrictEqual(read.at("data"), changed.at("data"))
    assert.notMatch(JSON.stringify([read.body, changed.body]), /CH93|bankAccount"/)
    assert.deepStrictEqual(yield* secretsOf(id), [{ account, token: null }])
    yield* refused(invalid, asVendor(id), "PATCH /vendor/me", { name: "" })
  })

  test("keeps the bank account of a suspended vendor as it was, and lets it say the rest", function*() {
    const id = yield* aVendor()
    yield* done(asAdmin, `PATCH /vendors/${id}`, { bankAccount: account })
    yield* done(asAdmin, `POST /vendors/${id}/suspend`, { reason: "under investigation" })
    const moved = { name: "New", bankAccount: { iban: "NEW" } }
    yield* refused("403 FORBIDDEN", asVendor(id), "PATCH /vendor/me", moved)
    assert.deepStrictEqual(yield* secretsOf(id), [{ account, token: null }])
    const described = yield* done(asVendor(id), "PATCH /vendor/me", { description: "Closed." })
    assert.deepInclude(described.at("data"), { description: "Closed.", status: "suspended" })
    yield* done(asAdmin, `POST /vendors/${id}/reinstate`)
    yield* done(asVendor(id), "PATCH /vendor/me", moved)
    assert.deepStrictEqual(yield* secretsOf(id), [{ account: moved.bankAccount, token: null }])
  })

  test("leaves to the store what the store decides", function*() {
    const id = yield* aVendor({ status: "pending" })
    const before = yield* done(asAdmin, `GET /vendors/${id}`)
    const standing = { status: "approved", verificationStatus: "verified", tier: "platinum", performanceScore: 1 }
    const terms = { commissionRateBps: 0, payoutMinimumCents: 1, payoutSchedule: "daily", holdbackDays: 0 }
    const place = { slug: "taken-over", storeAccessToken: "mine", organizationId: "org_other" }
    yield* done(asVendor(id), "PATCH /vendor/me", { ...standing, ...terms, ...place })
    const { updatedAt: _, ...after } = Object((yield* done(asAdmin, `GET /vendors/${id}`)).at("data"))
    const { updatedAt: __, ...was } = Object(before.at("data"))
    assert.deepStrictEqual([after, yield* secretsOf(id)], [was, []])
  })

  test("lists what the vendor sells, as the catalog has it", function*() {
    const [id, other] = [yield* aVendor(), yield* aVendor()]
    const [cup, plate] = [yield* aProduct({ slug: "cup" }), yield* aProduct({ slug: "plate" })]
    for (const entityId of [cup, plate]) yield* done(asAdmin, `POST /vendors/${id}/products`, { entityId })
    yield* done(asAdmin, `POST /vendors/${other}/products`, { entityId: yield* aProduct() })
    const list = yield* done(asVendor(id), "GET /vendor/me/products?limit=1&page=2")
    const thing = { entityId: cup, slug: "cup", status: "active", type: "product", title: "Title of cup" }
    assert.deepInclude(list.at("data.0"), thing)
    const beyond = yield* done(asVendor(id), "GET /vendor/me/products?page=9")
    assert.deepStrictEqual([beyond.at("data"), beyond.at("meta.pagination.total")], [[], 2])
  })
})

const settings = {
  defaultCommissionRateBps: 250,
  defaultPayoutMinimumCents: 1,
  defaultPayoutSchedule: "monthly",
  defaultHoldbackDays: 30
} as const
market({ ...settings, vendorApprovalMode: "auto" })("a store with other settings", (test) => {
  test("gives new vendors its terms, unless they are named, and approves them by itself", function*() {
    const made = yield* done(asAdmin, "POST /vendors", { name: "Usual" })
    const terms = { commissionRateBps: 250, payoutMinimumCents: 1, payoutSchedule: "monthly", holdbackDays: 30 }
    assert.deepInclude(made.at("data"), { ...terms, status: "approved" })
    const own = { commissionRateBps: 0, holdbackDays: 0 }
    assert.deepInclude((yield* done(asAdmin, "POST /vendors", { name: "Special", ...own })).at("data"), own)
    assert.strictEqual(yield* announced("vendor.approved", made.text("data.id")), 1)
  })
})
