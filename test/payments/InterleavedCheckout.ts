import { assert } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { WorkflowEngine } from "effect/workflow"
import { HoldRepo } from "../../src/domain/inventory/HoldRepo.ts"
import { CurrentActor } from "../../src/domain/platform/access/Actor.ts"
import { OrderId } from "../../src/domain/platform/ids/Id.ts"
import { signTestEvent } from "../../src/layers/payments/TestProvider.ts"
import { LateCapture } from "../../src/workflows/checkout/Captures.ts"
import { AtFaultPoint } from "../../src/workflows/checkout/CheckoutWorkflow.ts"
import { UnpaidOrders } from "../../src/workflows/payments/UnpaidOrders.ts"
import { scriptedProvider } from "../checkout/ScriptedProvider.ts"
import { eventually } from "../support/Eventually.ts"
import { aCartWith, aProduct, checkOut, type GuestCart } from "../support/Purchase.ts"
import { type Answer, api, asAdmin, testAppLayer } from "../support/TestApp.ts"
import type { Happening } from "./Sequences.ts"

/** How the provider takes the money of a payment that its shopper has confirmed: when it is asked to, or by itself. */
export type CaptureMode = "when asked" | "by itself"

const provider = scriptedProvider("scripted")

/** One checkout, held after its authorization until its sequence says `place`. */
interface Held {
  readonly name: string
  readonly taking: CaptureMode
  readonly cart: GuestCart
  readonly gate: Deferred.Deferred<void>
  /** The run that waits at the gate dies by it. */
  death: Deferred.Deferred<void>
  waiting: boolean
  ended: boolean
  /** The next step boundary that a run of this order passes is its death. */
  doomed: boolean
  answer: Answer | undefined
  payment: ReturnType<typeof provider.paymentOf>
  capturableNotice: boolean
  paidNotice: boolean
  /** Events that were not accepted: the provider comes again with them. */
  readonly again: Array<readonly [type: string, id: string]>
}

const byName = new Map<string, Held>()
const byExecution = new Map<string, Held>()

/** Whose run passes a boundary: a checkout acts as its shopper, in whose request it began; a late capture has its id. */
const whose = Effect.gen(function*() {
  const instance = yield* Effect.serviceOption(WorkflowEngine.WorkflowInstance)
  const late = Option.isSome(instance) ? byExecution.get(instance.value.executionId) : undefined
  if (late !== undefined) return late
  const actor = yield* Effect.serviceOption(CurrentActor)
  return Option.isSome(actor) ? byName.get(actor.value.requestId ?? "") : undefined
})

const die = Effect.die(new Error("the process died"))

const boundaries = Layer.succeed(AtFaultPoint, (point) =>
  Effect.gen(function*() {
    const held = yield* whose
    if (held === undefined) return
    if (held.doomed) {
      held.doomed = false
      return yield* die
    }
    if (point !== "authorized") return
    held.waiting = true
    yield* Effect.raceFirst(Deferred.await(held.gate), Effect.andThen(Deferred.await(held.death), die)).pipe(
      Effect.ensuring(Effect.sync(() => {
        held.waiting = false
      }))
    )
  }))

/** The service with a provider whose payments wait for their shopper, and boundaries at which checkouts wait or die. */
export const interleavedStore = testAppLayer({
  payments: { adapters: [provider.adapter] },
  checkout: { holdSeconds: 3_600 }
}, { logLevel: "none" }).pipe(Layer.provide(boundaries))

/** What all sequences of a file buy: plenty of one product, with a promotion whose usages are counted. */
export const anOffer = Effect.gen(function*() {
  const entityId = yield* aProduct({ stock: 1_000_000 })
  const code = "INTERLEAVED"
  const body = { code, name: code, type: "percentage_off_order", value: 10, usageLimitTotal: 1_000_000 }
  yield* api("POST", "/api/promotions", { as: asAdmin, body })
  return { entityId, code }
})

export type Offer = Effect.Success<typeof anOffer>

let names = 0

const request = (held: Held, code: string) =>
  checkOut(
    held.cart,
    { paymentMethodId: "scripted", paymentMethodToken: `asks_${held.name}`, promotionCodes: [code] },
    { "idempotency-key": `key-of-${held.name}`, "x-request-id": held.name }
  )

/** The checkout's id: its key at the provider, and the id of the order. */
const idOf = ({ payment }: Held): string => payment?.id.replace("pay_", "") ?? ""

interface Facts {
  readonly status: string | null
  readonly captured: number | null
  readonly refunded: number | null
  readonly total: number | null
  readonly open: number
  readonly hold: string | null
  readonly units: number
  readonly cart: string
  readonly usages: number
}

const factsOf = (held: Held) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.map(
      Effect.orDie(sql<Facts>`select o.status, o.amount_captured::float8 as captured,
          o.refunded_total::float8 as refunded, o.grand_total::float8 as total, c.status as cart, h.state as hold,
          (select count(*)::int4 from refunds r where r.order_id = ${
        idOf(held)
      }::uuid and r.status <> 'completed') as open,
          (select coalesce(sum(quantity), 0)::int4 from hold_lines l where l.holder = ${idOf(held)}) as units,
          (select count(*)::int4 from promotion_usages u where u.order_id = ${idOf(held)}::uuid) as usages
        from carts c left join orders o on o.id = ${idOf(held)}::uuid left join holds h on h.holder = ${idOf(held)}
        where c.id = ${held.cart.id}::uuid`),
      ([row]) => {
        if (row === undefined) throw new Error("the cart has gone")
        return row
      }
    ))

/** Void, or taken and given back whole. */
const isReturned = (payment: NonNullable<Held["payment"]>): boolean =>
  payment.captured === payment.refunded && (payment.status === "canceled" || payment.status === "succeeded")

/** Whether nothing is on its way any more that the last happening has started. */
const isAtRest = (held: Held, { captured, open, status }: Facts): boolean => {
  const { payment } = held
  if (payment === undefined || open > 0) return false
  if (status === null) return !held.ended || isReturned(payment)
  if (status === "cancelled") return isReturned(payment)
  if (captured !== null) return payment.captured === captured
  return !(held.capturableNotice && payment.status !== "requires_action")
}

const atRest = (held: Held) =>
  eventually(
    "everything that was started to have ended",
    Effect.map(factsOf(held), (facts) => isAtRest(held, facts) ? facts : undefined)
  )

const held = (it: Held) => eventually("the checkout to wait or to end", Effect.sync(() => it.waiting || it.ended))

/** Sends an event about the payment of a checkout: 200 in any state of the order, 409 while it is being created. */
const tell = Effect.fnUntraced(function*(it: Held, type: string, id: string) {
  const { payment } = it
  const metadata = { orderId: idOf(it), organizationId: "org_default" }
  const object = { id: payment?.id, amount: payment?.amount, currency: "usd", metadata }
  const body = JSON.stringify({ id: `${it.name}-${id}`, type: `payment_intent.${type}`, data: { object } })
  const headers = { "x-payment-signature": signTestEvent("scripted", body) }
  const answer = yield* api("POST", "/api/payments/webhook", { body, headers })
  assert.include(it.answer === undefined ? [200, 409] : [200], answer.status, JSON.stringify(answer.body))
  if (answer.status === 409) return void it.again.push([type, id])
  if (type === "succeeded") it.paidNotice = true
  if (type === "amount_capturable_updated" && it.answer?.status === 201) it.capturableNotice = true
})

/** The provider takes the money, or is ready to; one that takes it by itself may do so after the void was asked for. */
const shopperConfirms = ({ payment, taking }: Held) => {
  if (payment === undefined || payment.status !== "requires_action") return
  if (taking === "when asked") payment.status = "requires_capture"
  else Object.assign(payment, { status: "succeeded", captured: payment.amount })
}

const success = (it: Held) => {
  const { payment, taking } = it
  shopperConfirms(it)
  // A refused checkout has voided its payment before it answered: a provider that captures on request is not asked.
  if (taking === "when asked" && it.answer !== undefined && it.answer.status !== 201) return Effect.void
  if (taking === "by itself" && payment?.captured === 0) {
    Object.assign(payment, { status: "succeeded", captured: payment.amount })
  }
  return tell(it, taking === "by itself" ? "succeeded" : "amount_capturable_updated", "success")
}

const patch = (it: Held) =>
  Effect.map(
    api("PATCH", `/api/orders/${idOf(it)}/status`, { as: asAdmin, body: { status: "cancelled" } }),
    ({ status }) => assert.include([200, 404, 409, 422], status)
  )

const timeOut = (it: Held) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    yield* Effect.orDie(
      sql`update orders set payment_due_at = payment_due_at - interval '60 minutes' where id = ${idOf(it)}::uuid`
    )
    yield* (yield* UnpaidOrders).cancelUnconfirmed
    // The job of another sequence may have taken the order.
    yield* eventually(
      "the end of an order that is not paid",
      Effect.map(factsOf(it), ({ captured, status }) => status !== "pending" || captured !== null)
    )
  })

const expire = (it: Held) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    yield* Effect.orDie(
      sql`update holds set expires_at = now() - interval '1 second' where holder = ${idOf(it)} and state = 'held'`
    )
    yield* (yield* HoldRepo).expireDue
  })

const kill = Effect.fnUntraced(function*(it: Held) {
  if (!it.waiting) {
    it.doomed = true
    return
  }
  const { death } = it
  it.death = yield* Deferred.make<void>()
  it.waiting = false
  yield* Deferred.succeed(death, undefined)
  yield* held(it)
})

const repeat = Effect.fnUntraced(function*(it: Held, code: string) {
  shopperConfirms(it)
  // The key of a refused checkout is free, and would begin another one.
  if (it.ended && it.answer?.status !== 201) return
  assert.include([201, 409], (yield* request(it, code)).status)
})

/** A shopper whose checkout still runs asks again, as the answer says. */
const answered = <R>(ask: Effect.Effect<Answer, never, R>) =>
  Effect.flatMap(ask, (first) =>
    first.status !== 503
      ? Effect.succeed(first)
      : eventually(
        "the checkout that still runs to end",
        Effect.map(ask, (answer) => answer.status === 409 || answer.status === 503 ? undefined : answer)
      ))

/** Starts a checkout, lets it come to its authorization, and everything happen in this order; gives how it ended. */
const goThrough = Effect.fnUntraced(
  function*(sequence: ReadonlyArray<Happening>, taking: CaptureMode, offer: Offer) {
    const it: Held = {
      name: `interleaved-${++names}`,
      taking,
      cart: yield* aCartWith(offer.entityId),
      gate: yield* Deferred.make<void>(),
      death: yield* Deferred.make<void>(),
      waiting: false,
      ended: false,
      doomed: false,
      answer: undefined,
      payment: undefined,
      capturableNotice: false,
      paidNotice: false,
      again: []
    }
    byName.set(it.name, it)
    const shopper = yield* Effect.forkChild(
      Effect.tap(answered(request(it, offer.code)), (answer) =>
        Effect.sync(() => {
          it.answer = answer
          it.ended = true
        }))
    )
    yield* held(it)
    it.payment = provider.paymentOf(`asks_${it.name}`)
    byExecution.set(
      yield* LateCapture.executionId({ orderId: OrderId.make(idOf(it)), organizationId: "org_default" }),
      it
    )
    const happens = {
      place: Effect.andThen(Deferred.succeed(it.gate, undefined), Fiber.join(shopper)),
      confirm: repeat(it, offer.code),
      success: Effect.suspend(() => success(it)),
      // Alone, or before the event that it repeats, it is that event.
      duplicate: Effect.suspend(() => success(it)),
      failure: tell(it, "payment_failed", "failure"),
      "time-out": timeOut(it),
      cancel: patch(it),
      expiry: expire(it),
      kill: kill(it)
    } satisfies Record<Happening, unknown>
    for (const happening of sequence) {
      yield* happens[happening]
      yield* atRest(it)
    }
    for (const [type, id] of it.again.splice(0)) yield* Effect.andThen(tell(it, type, id), atRest(it))
    // The provider reports what it has taken, if it has not yet; and no order waits forever.
    if (it.payment !== undefined && it.payment.captured > it.payment.refunded && !it.paidNotice) {
      yield* tell(it, "succeeded", "last")
    }
    yield* atRest(it)
    yield* timeOut(it)
    const facts = yield* atRest(it)
    byName.delete(it.name)
    return { it, facts }
  }
)

/** The only ends there are (docs/payments.md). */
const assertLegal = ({ facts, it }: Effect.Success<ReturnType<typeof goThrough>>) => {
  const { cart, captured, hold, open, refunded, status, total, units, usages } = facts
  const kept = { captured: it.payment?.captured, refunded: it.payment?.refunded }
  if (status === "confirmed") {
    assert.deepStrictEqual({ captured, refunded, open, hold, units, usages, cart }, {
      captured: total,
      refunded: 0,
      open: 0,
      hold: "sold",
      units: 1,
      usages: 1,
      cart: "checked_out"
    })
    return assert.deepStrictEqual(kept, { captured: total ?? -1, refunded: 0 })
  }
  assert.include(["cancelled", null], status)
  assert.isTrue(it.payment !== undefined && isReturned(it.payment), `void or given back whole: ${JSON.stringify(kept)}`)
  assert.strictEqual(refunded ?? 0, captured ?? 0)
  assert.include(["released", "expired"], hold)
  assert.deepStrictEqual({ open, usages }, { open: 0, usages: 0 })
  if (captured === null) assert.strictEqual(cart, "active")
}

/** Goes through a sequence; a failure names it, so that it can be gone through again alone. */
export const assertEndsWell = (sequence: ReadonlyArray<Happening>, taking: CaptureMode, offer: Offer) =>
  goThrough(sequence, taking, offer).pipe(
    Effect.map(assertLegal),
    Effect.timeout("80 seconds"),
    Effect.catchCause((cause) =>
      Effect.die(new Error(`money taken ${taking}, in the order: ${sequence.join(", ")}`, { cause }))
    )
  )
