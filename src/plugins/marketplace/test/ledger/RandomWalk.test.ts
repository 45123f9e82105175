import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { onDatabase } from "../../../../../test/checkout/CheckoutFixtures.ts"
import { randomOf } from "../../../../../test/fuzz/Values.ts"
import { aProduct } from "../../../../../test/support/Purchase.ts"
import { asAdmin, asCustomer, asStaff } from "../../../../../test/support/TestApp.ts"
import type { PayoutAdapter } from "../../payouts/PayoutAdapter.ts"
import { accountOf, balanceOf } from "../Books.ts"
import { asVendor, done, send, type Who } from "../Calls.ts"
import { flaky, mood } from "../FlakyPayments.ts"
import { anOrderOf, aProductOf, aVendor, subOrdersOf } from "../Goods.ts"
import { market } from "../Market.ts"

/** Random steps; a long run has `STOA_CHAOS_MARKET=2000`, and others have another `STOA_CHAOS_SEED`. */
const steps = Number(process.env["STOA_CHAOS_MARKET"] ?? 56)
const seed = Number(process.env["STOA_CHAOS_SEED"] ?? 1)

type Roll = (sides: number) => number

/** The response may be a refusal, but never a server error. */
const ask = (as: Who, route: string, body: object = {}) =>
  Effect.tap(
    send(as, route, body),
    (answer) => Effect.sync(() => assert.isBelow(answer.status, 500, `${route} ${JSON.stringify(answer.body)}`))
  )

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

/** Every account is the sum of its entries, which say what sub-orders are owed. */
const assertBooks = Effect.fnUntraced(function*(vendors: ReadonlyArray<string>, at: string | number) {
  assert.deepStrictEqual(yield* unbalanced, [], `seed ${seed}, step ${at}`)
  for (const vendorId of vendors) assert.isTrue((yield* accountOf(vendorId)).exact, `seed ${seed}, step ${at}`)
})

const refund = (orderId: string, body: object) => ask(asStaff, `POST /api/orders/${orderId}/refunds`, body)
const someVendor = Effect.fnUntraced(function*(orderId: string, roll: Roll) {
  const all = yield* subOrdersOf(orderId)
  const at = roll(all.list("data").length)
  return [all.text(`data.${at}.id`), asVendor(all.text(`data.${at}.vendorId`))] as const
})
const cancel = Effect.fnUntraced(function*(orderId: string, roll: Roll) {
  const [id, vendor] = yield* someVendor(orderId, roll)
  yield* ask(vendor, `POST /vendor/me/orders/${id}/cancel`, { reason: "none left" })
})

const pay = (orderId: string, amount?: number) => ask(asStaff, `POST /api/orders/${orderId}/capture`, { amount })
const provider = (orderId: string, name: string) =>
  onDatabase((sql) => sql`update orders set payment_provider = ${name} where id = ${orderId}::uuid`)

/** One random thing that may happen to the payment of an order. */
const paymentStep = Effect.fnUntraced(function*(orderId: string, roll: Roll) {
  const kind = roll(9)
  if (kind <= 1) return yield* Effect.asVoid(pay(orderId, roll(3) === 0 ? 1 + roll(500) : undefined))
  if (kind === 2) {
    return yield* Effect.asVoid(ask(asAdmin, `PATCH /api/orders/${orderId}/status`, { status: "cancelled" }))
  }
  if (kind <= 4) return yield* Effect.asVoid(refund(orderId, kind === 3 ? { amount: 1 + roll(700) } : {}))
  if (kind === 5) return yield* cancel(orderId, roll)
  const order = yield* done(asAdmin, `GET /api/orders/${orderId}`)
  const lineItemId = order.text(`data.lineItems.${roll(order.list("data.lineItems").length)}.id`)
  const body = { lines: [{ lineItemId, quantity: 1 + roll(2) }], ...roll(2) === 0 && { amount: 1 } }
  if (kind === 6) {
    // Its provider is not there, so it has not been sent and can be undone.
    yield* provider(orderId, "gone")
    const made = yield* refund(orderId, body)
    const undo = `POST /api/orders/${orderId}/refunds/${made.at("data.id")}/undo`
    if (made.status === 201) yield* ask(asStaff, undo)
    return yield* Effect.asVoid(provider(orderId, "flaky"))
  }
  mood.isRefusing = kind === 7
  yield* refund(orderId, body)
  mood.isRefusing = false
})

/** Pays, and refuses every third time. */
const bank = (roll: Roll): PayoutAdapter => ({
  name: "random",
  transfer: async ({ idempotencyKey }) =>
    roll(3) === 0
      ? { status: "failed", reason: "the account is closed" }
      : { status: "completed", reference: idempotencyKey }
})
const buyer = asCustomer("a-buyer-of-many")

/** One random thing that may happen after a sale. */
const laterStep = Effect.fnUntraced(function*(orderId: string, roll: Roll) {
  const [id, vendor] = yield* someVendor(orderId, roll)
  const kind = roll(8)
  if (kind <= 2) {
    for (const step of ["confirm", "ship", "deliver"]) {
      yield* ask(vendor, `POST /vendor/me/orders/${id}/${step}`, step === "ship" ? { trackingNumber: "T1" } : {})
    }
    // What is delivered may be paid out at once.
    yield* onDatabase((sql) =>
      sql`update marketplace_vendor_sub_orders set available_at = now() - interval '1 minute'
        where id = ${id}::uuid and delivered_at is not null`
    )
  } else if (kind === 3) {
    const opened = yield* ask(buyer, "POST /disputes", { subOrderId: id, reason: "defective" })
    const resolution = ["refund_full", "refund_partial", "rejected", "vendor_favor", "buyer_favor"][roll(5)]
    const amount = resolution === "refund_partial" ? { refundAmountCents: 1 + roll(400) } : {}
    const resolve = `POST /disputes/${opened.at("data.id")}/resolve`
    // What cannot be given back is decided in the vendor's favour; nothing stays open for ever.
    if (opened.status === 201 && (yield* ask(asAdmin, resolve, { resolution, ...amount })).status !== 201) {
      yield* ask(asAdmin, resolve, { resolution: "rejected" })
    }
  } else if (kind === 4) {
    const asked = yield* ask(buyer, "POST /returns", { subOrderId: id, reason: "changed_mind" })
    if (asked.status !== 201) return
    const of = asked.text("data.id")
    yield* ask(vendor, `POST /vendor/me/returns/${of}/approve`, roll(2) === 0 ? {} : { refundAmountCents: roll(300) })
    yield* ask(buyer, `POST /returns/${of}/ship-back`, { trackingNumber: "B1" })
    for (const step of ["receive", "refund"]) yield* ask(vendor, `POST /returns/${of}/${step}`)
  } else if (kind === 5) yield* ask(asAdmin, "POST /payouts/run", { force: true })
  else if (kind === 6) yield* cancel(orderId, roll)
  else yield* refund(orderId, { amount: 1 + roll(300) })
})

/** What reached a vendor, or is on its way to it. */
const paidTo = (vendorId: string) =>
  Effect.map(
    done(asAdmin, `GET /payouts?vendorId=${vendorId}&limit=100`),
    (all) =>
      all.list("data").reduce<number>(
        (sum, one) => sum + (Object(one).status === "failed" ? 0 : Object(one).netAmount),
        0
      )
  )

const deployment = { payments: { adapters: [flaky], capture: "manual" } } as const

market({ payoutAdapter: bank(randomOf(seed).int) }, deployment)(
  "payments, deliveries, disputes, returns and payouts",
  (test) => {
    test("leave every account the sum of its entries, and owe what was paid out once all money went back", function*() {
      const { int: roll } = randomOf(seed)
      const vendors = [yield* aVendor({ commissionRateBps: 1234 }), yield* aVendor({ commissionRateBps: 777 })]
      const things = yield* Effect.forEach([...vendors, vendors[0], undefined], (vendorId, n) => {
        const options = { price: [331, 1009, 77, 250][n] ?? 100, stock: 100_000 }
        return vendorId === undefined ? aProduct(options) : aProductOf(vendorId, options)
      })
      yield* done(asAdmin, "POST /api/promotions", { name: "Off", code: "OFF97", type: "fixed_off_order", value: 97 })
      yield* done(buyer, "GET /api/me/profile")
      const orders: Array<string> = []
      for (let number = 0; number < steps; number++) {
        if (number % 8 === 0) {
          const bought = things.filter((_, at) => at === 0 || roll(3) > 0).map((one) => [one, 1 + roll(3)] as const)
          const promotionCodes = roll(2) === 0 ? ["OFF97"] : []
          const orderId = yield* anOrderOf(bought, { paymentMethodId: "flaky", promotionCodes })
          yield* onDatabase((sql) =>
            sql`update orders set customer_id = (select id from customers where user_id = ${buyer.userId ?? ""})
            where id = ${orderId}::uuid`
          )
          orders.push(orderId)
          if (roll(3) > 0) yield* pay(orderId)
        }
        const orderId = orders[orders.length - 1 - roll(Math.min(3, orders.length))] ?? ""
        yield* roll(2) === 0 ? paymentStep(orderId, roll) : laterStep(orderId, roll)
        yield* assertBooks(vendors, number)
      }
      for (const orderId of orders) yield* refund(orderId, {})
      yield* assertBooks(vendors, "last")
      const paid = yield* Effect.forEach(vendors, paidTo)
      const balances = yield* Effect.forEach(vendors, (vendorId) => balanceOf(vendorId))
      assert.deepStrictEqual(balances, paid.map((sum) => 0 - sum), `seed ${seed}`)
      assert.isAbove(paid.reduce((sum, one) => sum + one, 0), 0)
    }, 600_000)
  }
)
