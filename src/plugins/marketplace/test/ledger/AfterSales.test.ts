import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { onDatabase } from "../../../../../test/checkout/CheckoutFixtures.ts"
import { type Answer, api, asAdmin, asCustomer, asStaff } from "../../../../../test/support/TestApp.ts"
import { newId } from "../../../../domain/ids/Id.ts"
import type { PayoutAdapter } from "../../payouts/PayoutAdapter.ts"
import { anOrderOf, aProductOf, asVendor, aVendor, owedTo, subOrdersOf } from "../MarketBuilder.ts"
import { random } from "../Random.ts"
import { withMarketplace } from "../VendorShop.ts"

/** How many random steps are made, and which; a long run has `STOA_CHAOS_MARKET=2000`. */
const steps = Number(process.env["STOA_CHAOS_MARKET"] ?? 40)
const seed = Number(process.env["STOA_CHAOS_SEED"] ?? 1)

/** Pays, and refuses every third time. */
const bank = (roll: (sides: number) => number): PayoutAdapter => ({
  name: "random",
  transfer: ({ idempotencyKey }) =>
    Promise.resolve(
      roll(3) === 0
        ? { status: "failed", reason: "the account is closed" }
        : { status: "completed", reference: idempotencyKey }
    )
})

const withMarket = withMarketplace({ payoutAdapter: bank(random(seed)) })

const buyer = asCustomer("a-buyer-of-many")
const base = "/api/marketplace"

/** The response may be a refusal, but never a server error. */
const fine = (answer: Answer) =>
  Effect.sync(() => (assert.isBelow(answer.status, 500, JSON.stringify(answer.body)), answer))
const ask = (path: string, as: typeof buyer, body: object = {}) =>
  Effect.flatMap(api("POST", `${base}${path}`, { as, body }), fine)

/** The order is the buyer's, and what is delivered of it may be paid out at once. */
const bought = Effect.fnUntraced(function*(things: Parameters<typeof anOrderOf>[0]) {
  const orderId = yield* anOrderOf(things)
  yield* onDatabase((sql) =>
    sql`with one as (insert into customers (id, organization_id, user_id)
        values (${newId()}::uuid, 'org_default', ${buyer.userId ?? ""})
        on conflict (organization_id, user_id) do update set updated_at = now() returning id)
      update orders set customer_id = (select id from one) where id = ${orderId}::uuid`
  )
  return orderId
})

const delivered = Effect.fnUntraced(function*(vendor: typeof buyer, id: string) {
  for (const step of ["confirm", "ship", "deliver"]) {
    yield* ask(`/vendor/me/orders/${id}/${step}`, vendor, step === "ship" ? { trackingNumber: "T1" } : {})
  }
  yield* onDatabase((sql) =>
    sql`update marketplace_vendor_sub_orders set available_at = now() - interval '1 minute'
      where id = ${id}::uuid and delivered_at is not null`
  )
})

const disputed = Effect.fnUntraced(function*(id: string, roll: (sides: number) => number) {
  const opened = yield* ask("/disputes", buyer, { subOrderId: id, reason: "defective" })
  if (opened.status !== 201) return
  const ends = ["refund_full", "refund_partial", "rejected", "vendor_favor", "buyer_favor"]
  const resolution = ends[roll(ends.length)] ?? ""
  const amount = resolution === "refund_partial" ? { refundAmountCents: 1 + roll(400) } : {}
  const path = `/disputes/${opened.text("data.id")}/resolve`
  const ended = yield* ask(path, asAdmin, { resolution, ...amount })
  // What cannot be given back is decided in the vendor's favour; nothing stays open for ever.
  if (ended.status !== 201) yield* ask(path, asAdmin, { resolution: "rejected" })
})

const returned = Effect.fnUntraced(function*(vendor: typeof buyer, id: string, roll: (sides: number) => number) {
  const asked = yield* ask("/returns", buyer, { subOrderId: id, reason: "changed_mind" })
  if (asked.status !== 201) return
  const of = asked.text("data.id")
  yield* ask(`/vendor/me/returns/${of}/approve`, vendor, roll(2) === 0 ? {} : { refundAmountCents: roll(300) })
  yield* ask(`/returns/${of}/ship-back`, buyer, { trackingNumber: "B1" })
  yield* ask(`/returns/${of}/receive`, vendor)
  yield* ask(`/returns/${of}/refund`, vendor)
})

/** One random thing that may happen after a sale. */
const step = Effect.fnUntraced(function*(orderId: string, roll: (sides: number) => number) {
  const all = yield* subOrdersOf(orderId)
  const at = roll(all.list("data").length)
  const [id, vendor] = [all.text(`data.${at}.id`), asVendor(all.text(`data.${at}.vendorId`))]
  const kind = roll(8)
  if (kind <= 2) return yield* delivered(vendor, id)
  if (kind === 3) return yield* disputed(id, roll)
  if (kind === 4) return yield* returned(vendor, id, roll)
  if (kind === 5) return yield* Effect.asVoid(ask("/payouts/run", asAdmin, { force: true }))
  if (kind === 6) return yield* Effect.asVoid(ask(`/vendor/me/orders/${id}/cancel`, vendor, { reason: "none left" }))
  yield* Effect.flatMap(
    api("POST", `/api/orders/${orderId}/refunds`, { as: asStaff, body: { amount: 1 + roll(300) } }),
    fine
  )
})

/** What reached a vendor, or is on its way to it. */
const paidTo = (vendorId: string) =>
  onDatabase((sql) =>
    Effect.map(
      sql`select coalesce(sum(net_amount), 0)::text as n from marketplace_vendor_payouts
        where vendor_id = ${vendorId}::uuid and status <> 'failed'`,
      ([row]) => Number(row?.["n"] ?? 0)
    )
  )

/** Sub-orders whose entries do not add up to what they are owed. */
const unbalanced = onDatabase((sql) =>
  sql`select s.id from marketplace_vendor_sub_orders s left join lateral (select coalesce(sum(amount_cents), 0) as total
      from marketplace_vendor_balances b where b.sub_order_id = s.id) e on true where e.total <> s.payout_amount`
)

withMarket("deliveries, disputes, returns, refunds and payouts in any order", (it) => {
  it.effect(
    "leave every account the sum of its entries, and after all money went back owe what was paid out, to the unit",
    () =>
      Effect.gen(function*() {
        const roll = random(seed)
        const spec = { payoutMinimumCents: 0 }
        const vendors = [yield* aVendor({ ...spec, commissionRateBps: 1234 }), yield* aVendor(spec)]
        const things = yield* Effect.forEach(vendors, (vendor, at) =>
          aProductOf(vendor, { price: [331, 1009][at] ?? 1, stock: 100_000 }))
        const orders: Array<string> = []
        for (let number = 0; number < steps; number++) {
          if (number % 6 === 0) {
            orders.push(
              yield* bought(things.map((one) =>
                [one, 1 + roll(3)] as const
              ))
            )
          }
          yield* step(orders[roll(orders.length)] ?? "", roll)
          assert.deepStrictEqual(yield* unbalanced, [], `seed ${seed}, step ${number}`)
          for (const vendor of vendors) assert.isTrue((yield* owedTo(vendor)).exact, `seed ${seed}, step ${number}`)
        }
        for (const orderId of orders) {
          yield* Effect.flatMap(api("POST", `/api/orders/${orderId}/refunds`, { as: asStaff, body: {} }), fine)
        }
        assert.deepStrictEqual(yield* unbalanced, [])
        for (const vendor of vendors) {
          assert.strictEqual((yield* owedTo(vendor)).balance, 0 - (yield* paidTo(vendor)), `seed ${seed}`)
        }
        assert.isAbove(yield* Effect.map(Effect.forEach(vendors, paidTo), ([one = 0, two = 0]) => one + two), 0)
      }),
    600_000
  )
})
