import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Layer, Option } from "effect"
import { CurrentActor } from "../../src/domain/platform/access/Actor.ts"
import { type BeforeCall, HookRefusal } from "../../src/domain/platform/hooks/Hook.ts"
import { AtFaultPoint, type FaultPoint } from "../../src/workflows/checkout/CheckoutWorkflow.ts"
import { audit } from "../support/Audit.ts"
import { eventually } from "../support/Eventually.ts"
import { aCartWith, aProduct, checkOut } from "../support/Purchase.ts"
import { api, asAdmin, at, live, TestApp, testAppLayer } from "../support/TestApp.ts"
import {
  aFilledCart,
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

/** Requests whose checkout dies once after its authorization. */
const mortal = new Set<unknown>()

const dying = Layer.succeed(AtFaultPoint, (point) =>
  Effect.gen(function*() {
    const actor = Option.getOrUndefined(yield* Effect.serviceOption(CurrentActor))
    const dies = point === "authorized" && mortal.delete(actor?.requestId)
    if (!dies && death?.point !== point) return
    const first = dies ? Effect.void : death?.first ?? Effect.void
    if (!dies) death = undefined
    yield* first
    return yield* Effect.die(new Error(`the process died at "${point}"`))
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
  live
)

const by = (paymentMethodToken: string) => ({ paymentMethodId: "scripted", paymentMethodToken })

const voided = (token: string) =>
  eventually(
    `the payment of ${token} to be voided`,
    Effect.sync(() => provider.paymentOf(token)?.status === "canceled")
  )

/**
 * The process dies while it undoes a checkout whose provider is silent, so that a durable process has to void the
 * payment; the provider answers again once the shopper has a response. A shopper with a 201 has a paid order, any other
 * gets the money back.
 */
const assertHonestAfterSilence = Effect.fnUntraced(function*(
  token: string,
  isSilent: (operation: PaymentOperation, nth: number) => boolean
) {
  const { id: cartId } = yield* aFilledCart()
  let answered = false
  provider.obstruct(token, (operation, nth) => !answered && isSilent(operation, nth) ? silence : Effect.void)
  yield* dieAt("undone")
  const answer = yield* api("POST", "/api/checkout", { as: asAdmin, body: { cartId, currency: "USD", ...by(token) } })
  answered = true
  yield* voided(token)
  const alive = (yield* ordersFrom(cartId)).filter((order) => at(order, "status") !== "cancelled")
  const payment = provider.paymentOf(token)
  const kept = (payment?.captured ?? 0) - (payment?.refunded ?? 0)
  const expected = answer.status === 201 ? [201, 1, payment?.amount] : [422, 0, 0]
  assert.deepStrictEqual([answer.status, alive.length, kept], expected)
})

/** Lets every reservation run out and waits until this product's is released. */
const runOut = (entityId: string) =>
  Effect.map(
    Effect.context<TestApp>(),
    (context) =>
      onDatabase((sql) => sql`update holds set expires_at = now() - interval '1 second' where state = 'held'`).pipe(
        Effect.andThen(
          eventually("the stock to be released", Effect.map(stockOf(entityId), ({ reserved }) => reserved === 0))
        ),
        Effect.provideContext(context)
      )
  )

withDeaths("a checkout that runs again", (it) => {
  it.effect("captures and voids at the provider that authorized the payment, also after a change of configuration", () =>
    Effect.gen(function*() {
      const cart = yield* aFilledCart()
      yield* dieAt("created", rename("pm_moved"))
      const made = yield* checkOut(cart, { paymentMethodId: "pm_moved", paymentMethodToken: "moved" })
      assert.deepStrictEqual([made.status, made.at("data.amountCaptured")], [201, 1000])
      assert.deepStrictEqual([provider.paymentOf("moved")?.captured, other.paymentOf("moved")], [1000, undefined])
      const failing = yield* aFilledCart()
      yield* dieAt("authorized", Effect.andThen(yield* runOut(failing.entityId), rename("pm_gone")))
      checkoutFailed(yield* checkOut(failing, { paymentMethodId: "pm_gone", paymentMethodToken: "gone" }))
      yield* voided("gone")
      assert.isUndefined(other.paymentOf("gone"))
    }))

  it.effect("still reports the rejected promotion codes after a death at the creation or the settlement of the order", () =>
    Effect.gen(function*() {
      for (const point of ["created", "settled"] as const) {
        const cart = yield* aFilledCart()
        yield* dieAt(point)
        const made = yield* checkOut(cart, { ...by(`codes_${point}`), promotionCodes: ["BOGUS"] })
        assert.deepStrictEqual([made.status, made.at("meta.rejectedPromotionCodes.0.code")], [201, "BOGUS"], point)
      }
    }))

  it.effect("leaves no authorization open when its provider declines to repeat it", () =>
    Effect.gen(function*() {
      const cart = yield* aFilledCart()
      provider.obstruct("declining_later", (operation, nth) =>
        operation === "authorize" && nth > 1 ? refusal : Effect.void)
      yield* dieAt("created")
      checkoutFailed(yield* checkOut(cart, by("declining_later")))
      yield* assertTakenBack(cart.id, cart.entityId)
      yield* voided("declining_later")
    }))

  it.effect("leaves no authorization open when its reservation ran out while no process lived", () =>
    Effect.gen(function*() {
      const cart = yield* aFilledCart()
      yield* dieAt("authorized", yield* runOut(cart.entityId))
      checkoutFailed(yield* checkOut(cart, by("ran_out")))
      yield* voided("ran_out")
      yield* assertNothingLeft(cart.id, cart.entityId)
    }))

  it.effect("does not take money that an earlier run had begun to void, before or after the order was created", () =>
    Effect.gen(function*() {
      refusals.push("Not today.")
      yield* assertHonestAfterSilence("void_before", (operation) => operation === "cancel")
      yield* assertHonestAfterSilence(
        "void_after",
        (operation, nth) => operation === "cancel" || (operation === "capture" && nth <= 3)
      )
    }))

  it.effect(
    "has its order, however many other checkouts have died in this process before it",
    () =>
      Effect.gen(function*() {
        const entityId = yield* aProduct()
        const dead = Effect.fnUntraced(function*(name: string) {
          const cart = yield* aCartWith(entityId)
          mortal.add(name)
          const { status } = yield* checkOut(cart, {}, { "x-request-id": name, "idempotency-key": `key-of-${name}` })
          return [status, mortal.has(name)]
        })
        const names = Array.from({ length: 16 }, (_, n) => `dies-${n}`)
        const others = yield* Effect.forEach(names, dead, { concurrency: 8 })
        assert.deepStrictEqual(others, names.map(() => [201, false]))
        assert.deepStrictEqual(yield* dead("dies-last"), [201, false])
        yield* audit((yield* TestApp).databaseUrl)
      })
  )
})

/** Staff confirms the order of a cart. */
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
  it.effect("answers with the order as it is, also when staff has confirmed it meanwhile", () =>
    Effect.gen(function*() {
      const cart = yield* aFilledCart()
      const confirm = yield* confirmFirst(cart.id)
      provider.obstruct("confirmed", (operation) => operation === "capture" ? confirm : Effect.void)
      const made = yield* checkOut(cart, by("confirmed"))
      assert.include(made.at("data"), { status: "confirmed", amountCaptured: 1000 })
      const read = yield* api("GET", `/api/orders/${made.text("data.id")}`, { as: asAdmin })
      assert.deepStrictEqual(made.at("data.updatedAt"), read.at("data.updatedAt"))
    }))

  it.effect("cancels the order whose capture fails, also when staff has confirmed it meanwhile", () =>
    Effect.gen(function*() {
      const cart = yield* aFilledCart()
      const confirm = yield* confirmFirst(cart.id)
      provider.obstruct("broke_confirmed", (operation) => operation === "capture" ? confirm : Effect.void)
      checkoutFailed(yield* checkOut(cart, by("broke_confirmed")))
      yield* assertTakenBack(cart.id, cart.entityId)
      assert.strictEqual(provider.paymentOf("broke_confirmed")?.status, "canceled")
    }))

  it.effect("fails and is taken back when its capture succeeds without all of the money", () =>
    Effect.gen(function*() {
      for (const token of ["voided_1", "partly_1"]) {
        const cart = yield* aFilledCart()
        checkoutFailed(yield* checkOut(cart, by(token)), /^The payment could not be captured/)
        yield* assertTakenBack(cart.id, cart.entityId)
        const payment = provider.paymentOf(token)
        assert.deepStrictEqual([payment?.status, payment?.refunded], ["canceled", payment?.captured], token)
      }
    }))

  it.effect("fails and is taken back when the adapter of its provider breaks, and voids its payment then", () =>
    Effect.gen(function*() {
      const bug = Effect.die(new TypeError("x is undefined"))
      const cart = yield* aFilledCart()
      provider.obstruct("bug_authorize", (operation, nth) => operation === "authorize" && nth <= 3 ? bug : Effect.void)
      checkoutFailed(yield* checkOut(cart, by("bug_authorize")))
      yield* assertNothingLeft(cart.id, cart.entityId)
      provider.obstruct(
        "broke_bug_cancel",
        (operation, nth) => operation !== "cancel" || nth > 5 ? Effect.void : nth <= 3 ? silence : bug
      )
      checkoutFailed(yield* checkOut(yield* aFilledCart(), by("broke_bug_cancel")))
      yield* voided("broke_bug_cancel")
    }))

  it.effect("goes on to its end when the shopper hangs up", () =>
    Effect.gen(function*() {
      const { url } = yield* TestApp
      const cart = yield* aFilledCart()
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
      yield* eventually(
        "the order to be paid",
        Effect.map(ordersFrom(cart.id), ([order]) => at(order, "amountCaptured") === 1000)
      )
    }))

  for (const spoilAt of moments) {
    it.effect(`stores the metadata that a hook of ${spoilAt} gives, and fails when they cannot be stored`, () =>
      Effect.gen(function*() {
        const cart = yield* aFilledCart()
        for (const spoil of spoilt.keys()) {
          checkoutFailed(yield* checkOut(cart, { metadata: { spoil, spoilAt } }), /metadata that cannot be stored/)
          yield* assertNothingLeft(cart.id, cart.entityId)
        }
        const made = yield* checkOut(cart, { metadata: { spoil: "nothing", spoilAt } })
        assert.deepStrictEqual([made.status, made.at("data.metadata.kept")], [201, 1])
        assert.notProperty(made.at("data.metadata"), "gone")
      }))
  }
})
