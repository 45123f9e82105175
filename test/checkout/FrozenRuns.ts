import { assert } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer, Ref } from "effect"
import { SqlClient } from "effect/sql"
import { CheckoutRunRepo, type RunToken } from "../../src/domain/checkout/CheckoutRunRepo.ts"
import { CurrentActor, systemActor } from "../../src/domain/platform/access/Actor.ts"
import { processLocks } from "../../src/domain/platform/database/ProcessNumber.ts"
import { CartId, newId, type OrderId } from "../../src/domain/platform/ids/Id.ts"
import { CurrencyCode } from "../../src/domain/platform/money/Money.ts"
import { runCheckout } from "../../src/workflows/checkout/Checkout.ts"
import { voidLost } from "../../src/workflows/checkout/CheckoutPayment.ts"
import {
  AtFaultPoint,
  type CheckoutPayload,
  encodePayload,
  type FaultPoint
} from "../../src/workflows/checkout/CheckoutWorkflow.ts"
import type { Chance } from "../pricing-properties/Chance.ts"
import { eventually } from "../support/Eventually.ts"
import { aCartWith } from "../support/Purchase.ts"
import { testAppLayer } from "../support/TestApp.ts"
import { type PaymentOperation, refusal, scriptedProvider } from "./ScriptedProvider.ts"

const provider = scriptedProvider("scripted")

/** The process of frozen runs. */
const frozenProcess = 2

/** Holds the lock of the frozen process: on a slow machine the store would take its runs over as well. */
const frozenLock = Layer.effectDiscard(
  Effect.gen(function*() {
    const connection = yield* (yield* SqlClient.SqlClient).reserve
    yield* connection.execute("select pg_advisory_lock($1, $2)", [processLocks, frozenProcess], undefined)
  }).pipe(Effect.orDie)
)

/** A store whose runs of checkouts a test starts by itself. */
export const frozenStore = Layer.provideMerge(
  frozenLock,
  testAppLayer({ payments: { adapters: [provider.adapter] } }, { logLevel: "none" })
)

const answers = ["pays", "declines", "refuses to capture"] as const
type Answers = typeof answers[number]

/** Where a run can stop. Past its settlement a checkout has ended, and no other run follows. */
const boundaries = ["claimed", "reserved", "authorized", "created", "captured", "undone"] as const
type Boundary = typeof boundaries[number]

/** One run freezes; another takes over and comes to a boundary or its end; the first wakes up; the other goes on. */
export interface FrozenRound {
  readonly frozenAt: Boundary
  readonly otherAt: Boundary | "its end"
  /** What the provider does for the first run, for the other one, and for the first one when it is awake again. */
  readonly provider: readonly [Answers, Answers, Answers]
}

export const aRound = (chance: Chance): FrozenRound => ({
  frozenAt: chance.oneOf(boundaries),
  otherAt: chance.oneOf([...boundaries, "its end"]),
  provider: [chance.oneOf(answers), chance.oneOf(answers), chance.oneOf(answers)]
})

/** A gate at the first passing of a boundary. */
const gateAt = Effect.fnUntraced(function*(boundary: FaultPoint | "its end") {
  const [reached, opened, passed] = [yield* Deferred.make<void>(), yield* Deferred.make<void>(), yield* Ref.make(false)]
  const at = (point: FaultPoint) =>
    point !== boundary ? Effect.void : Effect.flatMap(
      Ref.getAndSet(passed, true),
      (again) => again ? Effect.void : Effect.andThen(Deferred.succeed(reached, undefined), Deferred.await(opened))
    )
  return { at, open: Deferred.succeed(opened, undefined), reached: Deferred.await(reached) }
})

/** Starts a run of the checkout and waits until it is at the boundary or has ended. */
const startedUntil = Effect.fnUntraced(
  function*(payload: CheckoutPayload, owner: RunToken, process: number | null, boundary: FaultPoint | "its end") {
    const gate = yield* gateAt(boundary)
    const fiber = yield* runCheckout({ ...payload, owner, process }).pipe(
      Effect.provideService(AtFaultPoint, gate.at),
      Effect.forkChild
    )
    yield* Effect.raceFirst(gate.reached, Fiber.await(fiber))
    return { outcome: Effect.andThen(gate.open, Fiber.await(fiber)) }
  }
)

interface Facts {
  readonly order: string | null
  readonly captured: number | null
  readonly hold: string | null
  readonly cart: string
  readonly owner: string | null
}

const factsOf = ({ checkoutId, request }: CheckoutPayload) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.map(
      Effect.orDie(sql<Facts>`select o.status as order, o.amount_captured::float8 as captured, h.state as hold,
          c.status as cart, r.owner
        from carts c left join orders o on o.id = ${checkoutId}::uuid left join holds h on h.holder = ${checkoutId}
          left join checkout_runs r on r.id = ${checkoutId}::uuid
        where c.id = ${request.cartId}::uuid`),
      ([facts]) => facts ?? assert.fail("the cart has gone")
    ))

/** Paid once, or nothing left: no order, no money, no stock, no claim. */
const assertEnded = Effect.fnUntraced(function*(payload: CheckoutPayload, token: string) {
  const { captured, cart, hold, order, owner } = yield* factsOf(payload)
  assert.isNull(owner)
  if (captured !== null) {
    assert.deepStrictEqual({ order, hold, cart }, { order: "pending", hold: "sold", cart: "checked_out" })
    const payment = provider.paymentOf(token)
    return assert.deepStrictEqual([payment?.captured, payment?.refunded], [captured, 0])
  }
  assert.include([null, "cancelled"], order)
  assert.include([null, "released"], hold)
  assert.strictEqual(cart, "active")
  yield* eventually(
    "the payment to be void",
    Effect.sync(() => {
      const payment = provider.paymentOf(token)
      return payment === undefined || payment.status === "canceled" && payment.captured === payment.refunded
    })
  )
})

/** A checkout of a cart, paid by this card, that no request began. */
export const aPayload = (cartId: string, card: string): CheckoutPayload => ({
  checkoutId: newId<OrderId>(),
  actor: systemActor("org_default"),
  customerId: null,
  secretHash: null,
  request: {
    cartId: CartId.make(cartId),
    paymentMethodId: "scripted",
    paymentMethodToken: card,
    currency: CurrencyCode.make("USD")
  },
  requestHash: "",
  idempotencyKey: null
})

/** Starts a checkout in a process that dies at the boundary. */
export const dyingAt = (payload: CheckoutPayload, boundary: FaultPoint) =>
  runCheckout({ ...payload, owner: newId(), process: 1 }).pipe(
    Effect.provideService(AtFaultPoint, (point) => point === boundary ? Effect.die(new Error("died")) : Effect.void),
    Effect.exit
  )

let rounds = 0

/** Goes through a round; returns whether the first run lost its checkout. */
const goThrough = Effect.fnUntraced(function*(entityId: string, { frozenAt, otherAt, provider: does }: FrozenRound) {
  const runs = yield* CheckoutRunRepo
  const [token, cart] = [`card_${++rounds}`, yield* aCartWith(entityId)]
  let now: Answers = does[0]
  // Under one key a provider does not decline what it has authorized.
  const isDeclined = () => now === "declines" && provider.paymentOf(token) === undefined
  const isRefused = (operation: PaymentOperation) =>
    (operation === "authorize" && isDeclined()) || (operation === "capture" && now === "refuses to capture")
  provider.obstruct(token, (operation) => isRefused(operation) ? refusal : Effect.void)
  const payload = aPayload(cart.id, token)
  const inStore = Effect.provideService(CurrentActor, payload.actor)
  const frozen = yield* startedUntil(payload, newId(), frozenProcess, frozenAt)
  const owner = newId<RunToken>()
  if (!(yield* inStore(runs.isOpen(payload.checkoutId)))) {
    yield* frozen.outcome
    yield* assertEnded(payload, token)
    return false
  }
  yield* inStore(runs.takeOver({ checkoutId: payload.checkoutId, owner }, encodePayload(payload)))
  now = does[1]
  const other = yield* startedUntil(payload, owner, null, otherAt)
  const before = yield* factsOf(payload)
  now = does[2]
  const thawed = yield* frozen.outcome
  const lost = Exit.isFailure(thawed) && JSON.stringify(thawed.cause).includes("RunLost")
  if (lost) {
    const after = yield* factsOf(payload)
    // A reservation is the same for every run of a checkout: the first one to come makes it.
    const expected = before.hold === null ? { ...before, hold: after.hold } : before
    assert.deepStrictEqual(after, expected, "a run that lost its checkout changed something")
  }
  now = does[1]
  const ended = yield* other.outcome
  if (lost && Exit.isFailure(ended)) yield* voidLost(payload)
  yield* assertEnded(payload, token)
  return lost
})

/** A failure names the round, so that it can be gone through again alone. */
export const assertEndsWell = (entityId: string, round: FrozenRound) =>
  goThrough(entityId, round).pipe(
    Effect.timeout("60 seconds"),
    Effect.catchCause((cause) => Effect.die(new Error(JSON.stringify(round), { cause })))
  )
