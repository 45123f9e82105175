import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { onDatabase } from "../../../../../test/checkout/CheckoutFixtures.ts"
import { aProduct } from "../../../../../test/support/Purchase.ts"
import { type Answer, api, asAdmin, asStaff } from "../../../../../test/support/TestApp.ts"
import { flaky, mood } from "../FlakyPayments.ts"
import { anOrderOf, aProductOf, asVendor, aVendor, owedTo, subOrdersOf } from "../MarketBuilder.ts"
import { random } from "../Random.ts"
import { withMarketplace } from "../VendorShop.ts"

/** How many random steps are made; a long run: `STOA_CHAOS_MARKET=3000 npx vitest run src/plugins/marketplace/test/ledger`. */
const steps = Number(process.env["STOA_CHAOS_MARKET"] ?? 24)
const seed = Number(process.env["STOA_CHAOS_SEED"] ?? 4)

const withMarket = withMarketplace({}, { payments: { adapters: [flaky], capture: "manual" } })

/** Sub-orders whose entries do not say what they are owed: nothing before the capture, `payoutAmount` after it. */
const unbalanced = onDatabase((sql) =>
  sql`select s.id, s.status, o.status as order_status, o.amount_captured, s.payout_amount, e.*
    from marketplace_vendor_sub_orders s join orders o on o.id = s.order_id
    left join lateral (select coalesce(sum(amount_cents), 0) as total,
        coalesce(sum(amount_cents) filter (where type = 'sale'), 0) as sold,
        coalesce(sum(amount_cents) filter (where type in ('commission', 'commission_reversal')), 0) as kept,
        coalesce(sum(amount_cents) filter (where type = 'refund_deduction'), 0) as back
      from marketplace_vendor_balances b where b.sub_order_id = s.id) e on true
    where e.total <> case when o.amount_captured is null then 0 else s.payout_amount end
      or (e.sold <> 0 and (e.sold <> s.subtotal or e.kept <> -s.commission_amount or e.back <> -s.refunded_amount))
      or (o.amount_captured > 0 and o.status <> 'cancelled' and s.subtotal > 0 and e.sold = 0)`
)

const provider = (orderId: string, name: string) =>
  onDatabase((sql) => sql`update orders set payment_provider = ${name} where id = ${orderId}::uuid`)

const refund = (orderId: string, body: object) => api("POST", `/api/orders/${orderId}/refunds`, { as: asStaff, body })

const capture = (orderId: string, amount?: number) =>
  api("POST", `/api/orders/${orderId}/capture`, { as: asStaff, body: { amount } })

/** The response may be a refusal, but never a server error. */
const fine = (answer: Answer) => Effect.sync(() => assert.isBelow(answer.status, 500, JSON.stringify(answer.body)))

const lines = Effect.fnUntraced(function*(orderId: string, roll: (sides: number) => number) {
  const order = yield* api("GET", `/api/orders/${orderId}`, { as: asAdmin })
  const at = roll(order.list("data.lineItems").length)
  return [{ lineItemId: order.text(`data.lineItems.${at}.id`), quantity: 1 + roll(2) }]
})

/** One random thing that may happen to an order. */
const step = Effect.fnUntraced(function*(orderId: string, roll: (sides: number) => number) {
  const kind = roll(9)
  if (kind <= 1) {
    const amount = roll(3) === 0 ? 1 + roll(500) : undefined
    return yield* Effect.flatMap(capture(orderId, amount), fine)
  }
  if (kind === 2) {
    const body = { status: "cancelled" }
    return yield* Effect.flatMap(api("PATCH", `/api/orders/${orderId}/status`, { as: asAdmin, body }), fine)
  }
  if (kind === 3) return yield* Effect.flatMap(refund(orderId, { amount: 1 + roll(700) }), fine)
  if (kind === 4) return yield* Effect.flatMap(refund(orderId, {}), fine)
  if (kind === 5) {
    const all = yield* subOrdersOf(orderId)
    const at = roll(all.list("data").length)
    const call = { as: asVendor(all.text(`data.${at}.vendorId`)), body: { reason: "none left" } }
    return yield* Effect.flatMap(
      api("POST", `/api/marketplace/vendor/me/orders/${all.text(`data.${at}.id`)}/cancel`, call),
      fine
    )
  }
  const body = roll(2) === 0
    ? { lines: yield* lines(orderId, roll) }
    : { lines: yield* lines(orderId, roll), amount: 1 }
  if (kind === 6) {
    // Its provider is not there, so it has not been sent and can be undone.
    yield* provider(orderId, "gone")
    const made = yield* refund(orderId, body)
    if (made.status === 201) {
      yield* Effect.flatMap(
        api("POST", `/api/orders/${orderId}/refunds/${made.text("data.id")}/undo`, { as: asStaff }),
        fine
      )
    }
    return yield* provider(orderId, "flaky")
  }
  mood.isRefusing = kind === 7
  yield* Effect.flatMap(refund(orderId, body), fine)
  mood.isRefusing = false
})

withMarket("random steps of orders", (it) => {
  it.effect(
    "every account is the sum of its entries at each step, and where it began once all money went back",
    () =>
      Effect.gen(function*() {
        const roll = random(seed)
        const vendors = [yield* aVendor({ commissionRateBps: 1234 }), yield* aVendor({ commissionRateBps: 777 })]
        const things = yield* Effect.forEach([...vendors, vendors[0], undefined], (vendor, index) => {
          const options = { price: [331, 1009, 77, 250][index] ?? 100, stock: 100_000 }
          return vendor === undefined ? aProduct(options) : aProductOf(vendor, options)
        })
        yield* api("POST", "/api/promotions", {
          as: asAdmin,
          body: { name: "Off", code: "OFF97", type: "fixed_off_order", value: 97 }
        })
        const orders: Array<string> = []
        for (let number = 0; number < steps; number++) {
          if (number % 8 === 0) {
            const bought = things.filter((_, at) => at === 0 || roll(3) > 0).map((one) => [one, 1 + roll(3)] as const)
            const promotionCodes = roll(2) === 0 ? ["OFF97"] : []
            const orderId = yield* anOrderOf(bought, { paymentMethodId: "flaky", promotionCodes })
            orders.push(orderId)
            if (roll(3) > 0) yield* capture(orderId)
          }
          yield* step(orders[orders.length - 1 - roll(Math.min(2, orders.length))] ?? "", roll)
          assert.deepStrictEqual(yield* unbalanced, [], `seed ${seed}, step ${number}`)
          for (const vendor of vendors) assert.isTrue((yield* owedTo(vendor)).exact, `seed ${seed}, step ${number}`)
        }
        yield* Effect.forEach(orders, (orderId) => refund(orderId, {}), { discard: true })
        assert.deepStrictEqual(yield* unbalanced, [])
        let entries = 0
        for (const vendor of vendors) {
          const owed = yield* owedTo(vendor)
          assert.deepStrictEqual([owed.balance, owed.exact], [0, true], `seed ${seed}`)
          entries += owed.entries
        }
        assert.isAbove(entries, 0)
      }),
    600_000
  )
})
