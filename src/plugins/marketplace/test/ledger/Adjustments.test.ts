import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { onDatabase, openElsewhere } from "../../../../../test/checkout/CheckoutFixtures.ts"
import { eventually } from "../../../../../test/support/Eventually.ts"
import { api, asAdmin, asStaff, inOrganization } from "../../../../../test/support/TestApp.ts"
import { asVendor, aVendor, entriesOf, owedTo } from "../MarketBuilder.ts"
import { withMarketplace } from "../VendorShop.ts"

const path = (vendorId: string) => `/api/marketplace/vendors/${vendorId}/adjustments`

const adjust = (vendorId: string, amountCents: number, more: object = {}, headers: Record<string, string> = {}) =>
  api("POST", path(vendorId), {
    as: asAdmin,
    headers,
    body: { amountCents, currency: "USD", reason: "A parcel that we broke", ...more }
  })

const pay = (vendorId: string) =>
  Effect.map(
    api("POST", "/api/marketplace/payouts/run", { as: asAdmin, body: { vendorIds: [vendorId] } }),
    (made) => made.list("data").map((_, at) => made.number(`data.${at}.netAmount`))
  )

withMarketplace()(
  "an adjustment of what a vendor is owed",
  (it) => {
    it.effect("an adjustment of what a vendor is owed is an entry of the ledger, for the vendor to see, and is in the audit trail with its actor", () =>
      Effect.gen(function*() {
        const vendorId = yield* aVendor()
        const made = yield* adjust(vendorId, 700)
        assert.strictEqual(made.status, 201, JSON.stringify(made.body))
        assert.deepInclude(made.at("data"), { vendorId, amountCents: 700, currency: "USD" })
        yield* adjust(vendorId, -200, { reason: "Postage that we paid" })
        yield* adjust(vendorId, 5, { currency: "EUR" })
        assert.deepStrictEqual(yield* owedTo(vendorId), { balance: 500, entries: 2, sum: 500, exact: true })
        assert.deepStrictEqual(yield* owedTo(vendorId, "EUR"), { balance: 5, entries: 1, sum: 5, exact: true })
        const own = yield* api("GET", "/api/marketplace/vendor/me/balance", { as: asVendor(vendorId) })
        assert.deepInclude(own.list("data.ledger").at(-1), {
          type: "adjustment",
          description: "A parcel that we broke",
          referenceType: "adjustment",
          referenceId: made.at("data.id")
        })
        const list = yield* api("GET", path(vendorId), { as: asAdmin })
        assert.deepStrictEqual(list.list("data").map((_, at) => list.at(`data.${at}.amountCents`)), [5, -200, 700])
        const entry = yield* eventually(
          "the entry",
          Effect.map(
            onDatabase((sql) =>
              sql`select actor_id from outbox_events
                where type = 'marketplace/marketplace_adjustments.create' and entity_id = ${made.text("data.id")}`
            ),
            ([found]) => found
          )
        )
        assert.strictEqual(entry["actor_id"], asAdmin.userId)
      }))

    it.effect("an adjustment of what a vendor is owed is made once for one Idempotency-Key, also of eight requests at once", () =>
      Effect.gen(function*() {
        const vendorId = yield* aVendor()
        const headers = { "idempotency-key": randomUUID() }
        const answers = yield* Effect.all(Array.from({ length: 8 }, () => adjust(vendorId, 300, {}, headers)), {
          concurrency: 8
        })
        assert.includeMembers([201, 409], [...new Set(answers.map(({ status }) => status))])
        const again = yield* adjust(vendorId, 300, {}, headers)
        assert.strictEqual(again.status, 201)
        assert.deepStrictEqual(yield* entriesOf(vendorId), [["adjustment", 300]])
        const other = yield* adjust(vendorId, 301, {}, headers)
        assert.isAtLeast(other.status, 400)
        assert.deepStrictEqual(yield* entriesOf(vendorId), [["adjustment", 300]])
      }))

    it.effect("an adjustment of what a vendor is owed is not made again by a repeat that finds no answer, because its process died behind the commit", () =>
      Effect.gen(function*() {
        const vendorId = yield* aVendor()
        const key = randomUUID()
        assert.strictEqual((yield* adjust(vendorId, 300, {}, { "idempotency-key": key })).status, 201)
        // What a process that dies between commit and answer leaves: work that is under way, and whose time is over.
        yield* onDatabase((sql) =>
          sql`update idempotency_keys set status = 'running', response_status = null, encrypted_response = null,
            locked_until = now() - interval '1 second' where status = 'done'`
        )
        const again = yield* adjust(vendorId, 300, {}, { "idempotency-key": key })
        assert.strictEqual(again.status, 409)
        assert.deepStrictEqual(yield* entriesOf(vendorId), [["adjustment", 300]])
      }))

    it.effect("keeps the balance equal to the sum of the entries while adjustments and payouts run concurrently", () =>
      Effect.gen(function*() {
        const vendorId = yield* aVendor({ payoutMinimumCents: 0 })
        yield* Effect.all([
          ...Array.from({ length: 12 }, (_, n) => adjust(vendorId, n % 3 === 0 ? -100 : 250)),
          ...Array.from({ length: 4 }, () => pay(vendorId))
        ], { concurrency: 16 })
        const { balance, exact, sum } = yield* owedTo(vendorId)
        assert.deepStrictEqual([balance, exact], [sum, true])
        yield* pay(vendorId)
        const after = yield* owedTo(vendorId)
        assert.isAtMost(after.balance, 0)
      }))

    it.effect("an adjustment of what a vendor is owed is part of the next payout; what is owed to the store is carried until it is paid for", () =>
      Effect.gen(function*() {
        const vendorId = yield* aVendor({ payoutMinimumCents: 100 })
        yield* adjust(vendorId, 900)
        assert.deepStrictEqual(yield* pay(vendorId), [900])
        yield* adjust(vendorId, -400)
        assert.deepStrictEqual(yield* pay(vendorId), [])
        assert.deepInclude(yield* owedTo(vendorId), { balance: -400 })
        yield* adjust(vendorId, 450)
        assert.deepStrictEqual(yield* pay(vendorId), [])
        yield* adjust(vendorId, 100)
        assert.deepStrictEqual(yield* pay(vendorId), [150])
        assert.deepInclude(yield* owedTo(vendorId), { balance: 0 })
      }))

    it.effect("an adjustment of what a vendor is owed is refused where it says nothing, of unknown vendors and of other stores", () =>
      Effect.gen(function*() {
        const vendorId = yield* aVendor()
        const wrong = [
          { amountCents: 0 },
          { amountCents: 1.5 },
          { amountCents: 1e15 },
          { amountCents: "7" },
          { currency: "DOLLARS" },
          { reason: "" }
        ]
        for (const body of wrong) {
          assert.strictEqual((yield* adjust(vendorId, 1, body)).status, 422, JSON.stringify(body))
        }
        assert.strictEqual((yield* adjust(randomUUID(), 1)).status, 404)
        yield* openElsewhere
        const body = { amountCents: 5, currency: "USD", reason: "x" }
        const outsider = inOrganization("org_other", asAdmin)
        for (const [as, status] of [[outsider, 404], [asStaff, 403], [asVendor(vendorId), 403]] as const) {
          assert.strictEqual((yield* api("POST", path(vendorId), { as, body })).status, status)
          assert.strictEqual((yield* api("GET", path(vendorId), { as })).status, status)
        }
        assert.deepStrictEqual(yield* entriesOf(vendorId), [])
      }))
  }
)
