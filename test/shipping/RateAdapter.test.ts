import { assert, describe, it as plain, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { CurrentActor, systemActor } from "../../src/domain/platform/access/Actor.ts"
import { askAdapter, type RateAdapter, type RateRequest } from "../../src/domain/shipping/RateAdapter.ts"
import { checkoutFailed, onDatabase } from "../checkout/CheckoutFixtures.ts"
import { aCartWith, aProduct, checkOut, type GuestCart } from "../support/Purchase.ts"
import { type Answer, api, asAdmin, live, testAppLayer } from "../support/TestApp.ts"
import { aRate, aZone, offered, to } from "./Zones.ts"

/** A service of shipping rates that a test drives, and that keeps what it was asked. */
const aService = () => {
  const asked: Array<RateRequest> = []
  const service: { answer: RateAdapter["rates"] } = { answer: () => Promise.resolve([]) }
  const adapter: RateAdapter = {
    rates: (request, signal) => {
      asked.push(request)
      return service.answer(request, signal)
    }
  }
  return { asked, adapter, service }
}

const slow = { id: "slow", name: "Slow boat", amount: 200 }
const fast = { id: "fast", name: "Fast plane", amount: 900 }

const quote = (cart: GuestCart, country: string) =>
  api("POST", "/api/shipping/quotes", {
    body: { cartId: cart.id, shippingAddress: to(country) },
    headers: cart.headers
  })

/** The shipping that an order was charged: its price, and its rate. */
const chargedOf = (order: Answer) =>
  ["shippingTotal", "metadata.shippingMethod", "metadata.shippingRateId"].map((field) => order.at(`data.${field}`))

const shipTo = (cart: GuestCart, country: string, body: object = {}) =>
  checkOut(cart, { shippingAddress: to(country), ...body })

/** Every way in which a service does not answer. */
const silences: ReadonlyArray<readonly [string, RateAdapter["rates"]]> = [
  ["it rejects", () => Promise.reject(new Error("down"))],
  ["it throws", () => {
    throw new Error("broken")
  }],
  ["it never answers", () => new Promise(() => {})],
  ["a rate has no amount", () => Promise.resolve([{ ...slow, amount: Number.NaN }])],
  ["a rate costs less than nothing", () => Promise.resolve([{ ...slow, amount: -1 }])],
  ["a rate has no id", () => Promise.resolve([{ ...slow, id: "" }])]
]

describe("an outside service of shipping rates", () => {
  const { adapter, asked, service } = aService()
  const shipping = { type: "flat", flatRate: 50, adapter, adapterTimeoutMs: 150 } as const

  layer(testAppLayer({ shipping }), live)((it) => {
    it.effect("prices an order by the service, and lets the shopper choose among its rates", () =>
      Effect.gen(function*() {
        service.answer = () => Promise.resolve([fast, slow])
        const cart = yield* aCartWith(yield* aProduct({ price: 700 }), 2)
        assert.deepStrictEqual(
          (yield* quote(cart, "JP")).at("data.rates"),
          [slow, fast].map((rate) => ({ ...rate, estimate: null }))
        )
        assert.deepStrictEqual(asked.at(-1), {
          organizationId: "org_default",
          actor: { type: "user", userId: null, role: "customer" },
          currency: "USD",
          address: to("JP"),
          subtotalAfterDiscount: 1_400,
          weightGrams: 0
        })
        checkoutFailed(yield* shipTo(cart, "JP", { shippingRateId: "teleport" }), /is not offered/)
        const placed = yield* shipTo(cart, "JP", { shippingRateId: "fast" })
        assert.deepStrictEqual(chargedOf(placed), [900, "Fast plane", "fast"])
      }))

    it.effect("does not ask the service without goods to ship or without an address", () =>
      Effect.gen(function*() {
        const before = asked.length
        yield* shipTo(yield* aCartWith(yield* aProduct({ type: "digitalDownload" })), "US")
        const placed = yield* checkOut(yield* aCartWith(yield* aProduct()))
        assert.deepStrictEqual([asked.length, placed.at("data.shippingTotal")], [before, 50])
      }))

    it.effect("leaves an order to the zones or the configuration when the service does not answer", () =>
      Effect.gen(function*() {
        const entityId = yield* aProduct()
        for (const [how, answer] of silences) {
          service.answer = answer
          const placed = yield* shipTo(yield* aCartWith(entityId), "US")
          assert.deepStrictEqual([placed.status, placed.at("data.shippingTotal")], [201, 50], how)
        }
        yield* aRate(yield* aZone(["US"]), 300)
        assert.strictEqual((yield* shipTo(yield* aCartWith(entityId), "US")).at("data.shippingTotal"), 300)
        checkoutFailed(yield* shipTo(yield* aCartWith(entityId), "FR"), /^Shipping to FR is not offered\.$/)
      }))

    it.effect("aborts the service's signal when its answer is not awaited any more", () =>
      Effect.gen(function*() {
        const signals: Array<AbortSignal> = []
        service.answer = (_request, signal) => {
          signals.push(signal)
          return new Promise(() => {})
        }
        yield* quote(yield* aCartWith(yield* aProduct()), "US")
        assert.deepStrictEqual(signals.map(({ aborted }) => aborted), [true])
      }))

    it.effect("ships free by a promotion at the service's rate", () =>
      Effect.gen(function*() {
        service.answer = () => Promise.resolve([slow])
        const free = { code: "CARRIEDFREE", name: "Free", type: "free_shipping", value: 0 }
        yield* api("POST", "/api/promotions", { as: asAdmin, body: free })
        const placed = yield* shipTo(yield* aCartWith(yield* aProduct()), "US", { promotionCodes: [free.code] })
        assert.deepStrictEqual(chargedOf(placed), [0, "Slow boat", "slow"])
      }))

    it.effect("refuses an address that the service has no rates for", () =>
      Effect.gen(function*() {
        service.answer = () => Promise.resolve([])
        checkoutFailed(yield* shipTo(yield* aCartWith(yield* aProduct()), "AQ"), /^Shipping to AQ is not offered\.$/)
      }))
  })
})

describe("an outside service of shipping rates that has time", () => {
  const { adapter, service } = aService()

  layer(testAppLayer({ shipping: { adapter, adapterTimeoutMs: 20_000 } }), live)((it) => {
    it.effect("asks the service while no transaction is open", () =>
      Effect.gen(function*() {
        const open: Array<number> = []
        const cart = yield* aCartWith(yield* aProduct())
        const look = yield* Effect.map(Effect.context<never>(), Effect.runPromiseWith)
        const transactions = yield* Effect.map(
          Effect.context<Effect.Services<typeof inTransaction>>(),
          (context) => () => look(Effect.provide(inTransaction, context))
        )
        service.answer = async (_request, signal) => {
          // Others of the service end within a moment; one of the checkout would wait for this answer, until its time is over.
          let now = await transactions()
          while (now > 0 && !signal.aborted) now = await transactions()
          open.push(now)
          return [slow]
        }
        assert.strictEqual((yield* shipTo(cart, "US")).at("data.shippingTotal"), 200)
        assert.deepStrictEqual(open, [0])
      }))
  })
})

describe("a deployment that will not ship at guessed prices", () => {
  const { adapter, service } = aService()
  const shipping = { adapter, adapterTimeoutMs: 150, adapterFallback: "refuse" } as const

  layer(testAppLayer({ shipping }), live)((it) => {
    it.effect("refuses the checkout when the service does not answer, and takes it when it does", () =>
      Effect.gen(function*() {
        const cart = yield* aCartWith(yield* aProduct())
        for (const [, answer] of silences) {
          service.answer = answer
          checkoutFailed(yield* shipTo(cart, "US"), /^Shipping could not be priced\. Try again later\.$/)
        }
        service.answer = () => Promise.resolve([slow])
        assert.deepStrictEqual(offered(yield* quote(cart, "US")), [200])
        assert.strictEqual((yield* shipTo(cart, "US")).at("data.shippingTotal"), 200)
      }))
  })
})

plain.effect(
  "waits for the service of rates exactly as long as configured",
  () =>
    Effect.gen(function*() {
      const { adapter, service } = aService()
      service.answer = () => new Promise(() => {})
      const order = { currency: "USD", address: to("US"), subtotalAfterDiscount: 1, weightGrams: 0 }
      const actor = systemActor("o")
      const asking = askAdapter(adapter, { organizationId: "o", actor, ...order }, 20_000)
      const asked = yield* Effect.forkChild(Effect.flip(Effect.provideService(asking, CurrentActor, actor)))
      yield* TestClock.adjust("19999 millis")
      assert.isUndefined(asked.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      assert.strictEqual((yield* Fiber.join(asked))._tag, "RatesUnknown")
    })
)

/** Connections of the service that hold a transaction open. */
const inTransaction = Effect.map(
  onDatabase((sql) =>
    sql<{ open: number }>`select count(*)::int4 as open from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null
        and state like 'idle in transaction%'`
  ),
  ([row]) => row?.open ?? -1
)
