import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Layer } from "effect"
import { type BeforeCall, HookRefusal } from "../../src/domain/hooks/Hook.ts"
import { AtFaultPoint, type FaultPoint } from "../../src/workflows/checkout/Checkouts.ts"
import { aCartWith, aProduct, checkOut } from "../support/Purchase.ts"
import { type Answer, api, asAdmin, at, TestApp, testAppLayer } from "../support/TestApp.ts"
import { waitFor } from "../support/waitFor.ts"
import {
  assertNothingLeft,
  assertTakenBack,
  checkoutFailed,
  onDatabase,
  ordersFrom,
  stockOf
} from "./CheckoutFixtures.ts"
import { type PaymentOperation, refusal, scriptedProvider, silence } from "./ScriptedProvider.ts"

const provider = scriptedProvider()

/** A second provider; once a test renames it, the configuration would choose it for that payment method. */
const other = scriptedProvider()
let otherName = "other"
const otherAdapter = {
  ...other.adapter,
  get providerId() {
    return otherName
  }
}

const rename = (name: string) =>
  Effect.sync(() => {
    otherName = name
  })

/** The boundary the next checkout dies at, once, and what happens there before. */
let death: { readonly point: FaultPoint; readonly first: Effect.Effect<unknown> } | undefined

const dying = Layer.succeed(AtFaultPoint, (point) =>
  Effect.suspend(() => {
    if (death?.point !== point) return Effect.void
    const { first } = death
    death = undefined
    return Effect.andThen(first, Effect.die(new Error(`the process died at "${point}"`)))
  }))

const dieAt = (point: FaultPoint, first: Effect.Effect<unknown> = Effect.void) =>
  Effect.sync(() => {
    death = { point, first }
  })

/** Answers of the hook before the order is written; a test puts refusals in. */
const refusals: Array<string> = []

/** What the hook at the moment named in the metadata makes of it. */
const spoilt = new Map<unknown, unknown>([
  ["nul", { text: "a\0b" }],
  ["none", null],
  ["text", "text"],
  ["a bigint", { count: 1n }],
  ["a date", { at: new Date(0) }],
  ["NaN", { deep: [{ share: NaN }] }],
  ["a function", { call: () => 1 }],
  ["a hole", { list: [undefined] }],
  ["a map", { inner: new Map([["a", 1]]) }]
])

const moments = ["checkout.beforePayment", "checkout.beforeCreate"]

const spoiling = moments.map((key) => ({
  key,
  before: ({ data }: BeforeCall) =>
    Effect.sync(() => {
      if (at(data, "metadata.spoilAt") !== key) return data
      const wanted = at(data, "metadata.spoil")
      return { ...data, metadata: spoilt.has(wanted) ? spoilt.get(wanted) : { kept: 1, gone: undefined } }
    })
}))

const refusing = {
  key: "checkout.beforeCreate",
  before: ({ data }: BeforeCall) =>
    Effect.suspend(() => {
      const refusal = refusals.shift()
      return refusal === undefined ? Effect.succeed(data) : Effect.fail(new HookRefusal(refusal))
    })
}

const withDeaths = layer(
  testAppLayer({ payments: { adapters: [provider.adapter, otherAdapter] }, hooks: [refusing, ...spoiling] }).pipe(
    Layer.provide(dying)
  ),
  { excludeTestServices: true, timeout: "60 seconds" }
)

const by = (paymentMethodToken: string) => ({ paymentMethodId: "scripted", paymentMethodToken })

const voided = (token: string) =>
  Effect.promise(() =>
    waitFor(`the payment of ${token} to be voided`, () => provider.paymentOf(token)?.status === "canceled", 20_000)
  )

/** Whatever the answer was: a shopper who was told "paid" has a paid order, any other has his money. */
const assertHonest = Effect.fnUntraced(function*(token: string, cartId: string, answer: Answer) {
  const alive = (yield* ordersFrom(cartId)).filter((order) => at(order, "status") !== "cancelled")
  const payment = provider.paymentOf(token)
  const kept = (payment?.captured ?? 0) - (payment?.refunded ?? 0)
  assert.deepStrictEqual(
    [answer.status, alive.length, kept],
    answer.status === 201 ? [201, 1, payment?.amount] : [422, 0, 0]
  )
})

/**
 * The process dies while it undoes a checkout whose provider is silent, so that a durable process has to void the
 * payment; the provider speaks again once the shopper has his answer.
 */
const assertHonestAfterSilence = Effect.fnUntraced(function*(
  token: string,
  cartId: string,
  isSilent: (operation: PaymentOperation, nth: number) => boolean
) {
  let answered = false
  provider.obstruct(token, (operation, nth) => !answered && isSilent(operation, nth) ? silence : Effect.void)
  yield* dieAt("undone")
  const body = { cartId, currency: "USD", ...by(token) }
  const answer = yield* api("POST", "/api/checkout", { as: asAdmin, body })
  answered = true
  yield* voided(token)
  yield* assertHonest(token, cartId, answer)
})

/** Lets every reservation run out and waits until this product's is given back. */
const runOut = (entityId: string) =>
  Effect.map(
    Effect.context<TestApp>(),
    (context) =>
      onDatabase((sql) => sql`update holds set expires_at = now() - interval '1 second' where state = 'held'`).pipe(
        Effect.andThen(
          Effect.promise(() =>
            waitFor(
              "the sweep",
              () => Effect.runPromiseWith(context)(Effect.map(stockOf(entityId), ({ reserved }) => reserved === 0))
            )
          )
        ),
        Effect.provideContext(context)
      )
  )

withDeaths("a checkout that runs again", (it) => {
  it.effect("takes the money where it was set aside, whatever the configuration says by now", () =>
    Effect.gen(function*() {
      const cart = yield* aCartWith(yield* aProduct())
      yield* dieAt("created", rename("pm_moved"))
      const made = yield* checkOut(cart, { paymentMethodId: "pm_moved", paymentMethodToken: "moved" })
      assert.deepStrictEqual([made.status, made.at("data.amountCaptured")], [201, 1000])
      assert.deepStrictEqual([provider.paymentOf("moved")?.captured, other.paymentOf("moved")], [1000, undefined])
    }))

  it.effect("gives the money back where it was set aside, whatever the configuration says by now", () =>
    Effect.gen(function*() {
      const entityId = yield* aProduct()
      const cart = yield* aCartWith(entityId)
      yield* dieAt("authorized", Effect.andThen(yield* runOut(entityId), rename("pm_gone")))
      checkoutFailed(yield* checkOut(cart, { paymentMethodId: "pm_gone", paymentMethodToken: "gone" }))
      yield* voided("gone")
      assert.isUndefined(other.paymentOf("gone"))
    }))

  for (const point of ["created", "settled"] as const) {
    it.effect(`still says which promotion codes were refused after it died when the order was ${point}`, () =>
      Effect.gen(function*() {
        const cart = yield* aCartWith(yield* aProduct())
        yield* dieAt(point)
        const made = yield* checkOut(cart, { ...by(`codes_${point}`), promotionCodes: ["BOGUS"] })
        assert.deepStrictEqual([made.status, made.at("meta.rejectedPromotionCodes.0.code")], [201, "BOGUS"])
      }))
  }

  it.effect("leaves no authorization open when its provider declines to repeat it", () =>
    Effect.gen(function*() {
      const entityId = yield* aProduct()
      const cart = yield* aCartWith(entityId)
      provider.obstruct("declined_later", (operation, nth) =>
        operation === "authorize" && nth > 1 ? refusal : Effect.void)
      yield* dieAt("created")
      checkoutFailed(yield* checkOut(cart, by("declined_later")))
      yield* assertTakenBack(cart.id, entityId)
      yield* voided("declined_later")
    }))

  it.effect("leaves no authorization open when its reservation ran out while no process lived", () =>
    Effect.gen(function*() {
      const entityId = yield* aProduct()
      const cart = yield* aCartWith(entityId)
      yield* dieAt("authorized", yield* runOut(entityId))
      checkoutFailed(yield* checkOut(cart, by("ran_out")))
      yield* voided("ran_out")
      yield* assertNothingLeft(cart.id, entityId)
    }))

  it.effect("does not take money that an earlier run had already begun to void before the order was written", () =>
    Effect.gen(function*() {
      const entityId = yield* aProduct()
      const cart = yield* aCartWith(entityId)
      refusals.push("Not today.")
      yield* assertHonestAfterSilence("void_before", cart.id, (operation) => operation === "cancel")
    }))

  it.effect("does not take money that an earlier run had already begun to void after the order was written", () =>
    Effect.gen(function*() {
      const entityId = yield* aProduct()
      const cart = yield* aCartWith(entityId)
      yield* assertHonestAfterSilence(
        "void_after",
        cart.id,
        (operation, nth) => operation === "cancel" || (operation === "capture" && nth <= 3)
      )
    }))
})

/** Somebody confirms the order that was placed from a cart. */
const confirmFirst = (cartId: string) =>
  Effect.map(Effect.context<TestApp>(), (context) =>
    ordersFrom(cartId).pipe(
      Effect.flatMap(([order]) =>
        api("PATCH", `/api/orders/${String(at(order, "id"))}/status`, { as: asAdmin, body: { status: "confirmed" } })
      ),
      Effect.asVoid,
      Effect.provideContext(context)
    ))

withDeaths("a checkout beside others", (it) => {
  it.effect("answers with the order as it is, also when somebody has confirmed it meanwhile", () =>
    Effect.gen(function*() {
      const cart = yield* aCartWith(yield* aProduct())
      const confirm = yield* confirmFirst(cart.id)
      provider.obstruct("confirmed", (operation) => operation === "capture" ? confirm : Effect.void)
      const made = yield* checkOut(cart, by("confirmed"))
      assert.deepStrictEqual([made.at("data.status"), made.at("data.amountCaptured")], ["confirmed", 1000])
      const read = yield* api("GET", `/api/orders/${made.text("data.id")}`, { as: asAdmin })
      assert.deepStrictEqual(made.at("data.updatedAt"), read.at("data.updatedAt"))
    }))

  it.effect("cancels the order it cannot be paid for also when somebody has confirmed it meanwhile", () =>
    Effect.gen(function*() {
      const entityId = yield* aProduct()
      const cart = yield* aCartWith(entityId)
      const confirm = yield* confirmFirst(cart.id)
      provider.obstruct("broke_confirmed", (operation) => operation === "capture" ? confirm : Effect.void)
      checkoutFailed(yield* checkOut(cart, by("broke_confirmed")))
      yield* assertTakenBack(cart.id, entityId)
      assert.strictEqual(provider.paymentOf("broke_confirmed")?.status, "canceled")
    }))

  for (const token of ["voided_1", "partly_1"]) {
    it.effect(`fails and is taken back when its capture is answered without all of the money: ${token}`, () =>
      Effect.gen(function*() {
        const entityId = yield* aProduct()
        const cart = yield* aCartWith(entityId)
        checkoutFailed(yield* checkOut(cart, by(token)), /^Payment capture failed/)
        yield* assertTakenBack(cart.id, entityId)
        const payment = provider.paymentOf(token)
        assert.strictEqual(payment?.status, "canceled")
        assert.strictEqual(payment?.refunded, payment?.captured)
      }))
  }

  it.effect("fails and is taken back when the adapter of its provider breaks", () =>
    Effect.gen(function*() {
      const entityId = yield* aProduct()
      const cart = yield* aCartWith(entityId)
      provider.obstruct("bug_authorize", (operation, nth) =>
        operation === "authorize" && nth <= 3 ? Effect.die(new TypeError("x is undefined")) : Effect.void)
      checkoutFailed(yield* checkOut(cart, by("bug_authorize")))
      yield* assertNothingLeft(cart.id, entityId)
    }))

  it.effect("voids its payment also when the adapter of its provider breaks at it", () =>
    Effect.gen(function*() {
      const entityId = yield* aProduct()
      const cart = yield* aCartWith(entityId)
      provider.obstruct("broke_bug_cancel", (operation, nth) =>
        operation !== "cancel" || nth > 5
          ? Effect.void
          : nth <= 3
          ? silence
          : Effect.die(new TypeError("x is undefined")))
      checkoutFailed(yield* checkOut(cart, by("broke_bug_cancel")))
      yield* voided("broke_bug_cancel")
    }))

  it.effect("goes on to its end when the shopper hangs up", () =>
    Effect.gen(function*() {
      const { url } = yield* TestApp
      const cart = yield* aCartWith(yield* aProduct())
      const [asked, goOn] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      provider.obstruct("hung_up", (operation) =>
        operation === "authorize"
          ? Effect.andThen(Deferred.succeed(asked, undefined), Deferred.await(goOn))
          : Effect.void)
      const client = new AbortController()
      const cut = fetch(`${url}/api/checkout`, {
        method: "POST",
        headers: { ...cart.headers, "content-type": "application/json" },
        body: JSON.stringify({ cartId: cart.id, currency: "USD", ...by("hung_up") }),
        signal: client.signal
      }).catch(() => "cut")
      yield* Deferred.await(asked)
      client.abort()
      assert.strictEqual(yield* Effect.promise(() => cut), "cut")
      yield* Deferred.succeed(goOn, undefined)
      const context = yield* Effect.context<TestApp>()
      yield* Effect.promise(() =>
        waitFor("the order to be paid", () =>
          Effect.runPromiseWith(context)(
            Effect.map(ordersFrom(cart.id), ([order]) => at(order, "amountCaptured") === 1000)
          ))
      )
    }))

  for (const spoilAt of moments) {
    it.effect(`fails and is taken back when a hook of ${spoilAt} gives metadata that cannot be stored`, () =>
      Effect.gen(function*() {
        const entityId = yield* aProduct()
        const cart = yield* aCartWith(entityId)
        for (const spoil of spoilt.keys()) {
          checkoutFailed(yield* checkOut(cart, { metadata: { spoil, spoilAt } }), /metadata that cannot be stored/)
          yield* assertNothingLeft(cart.id, entityId)
        }
      }))

    it.effect(`keeps what a hook of ${spoilAt} gives, and leaves out what is undefined`, () =>
      Effect.gen(function*() {
        const made = yield* checkOut(yield* aCartWith(yield* aProduct()), { metadata: { spoil: "nothing", spoilAt } })
        assert.strictEqual(made.status, 201)
        assert.strictEqual(made.at("data.metadata.kept"), 1)
        assert.notProperty(made.at("data.metadata"), "gone")
      }))
  }
})
