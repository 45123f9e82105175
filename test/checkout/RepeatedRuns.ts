import { assert } from "@effect/vitest"
import { Cause, Deferred, Effect, Fiber, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { WorkflowEngine } from "effect/workflow"
import type { CheckoutRequest } from "../../src/domain/checkout/Checkout.ts"
import type { Order } from "../../src/domain/orders/Order.ts"
import { CurrentActor, systemActor } from "../../src/domain/platform/access/Actor.ts"
import { CartId } from "../../src/domain/platform/ids/Id.ts"
import { CurrencyCode } from "../../src/domain/platform/money/Money.ts"
import { Checkouts } from "../../src/workflows/checkout/Checkouts.ts"
import {
  AtFaultPoint,
  type CheckoutPayload,
  CheckoutWorkflow,
  decodePayload
} from "../../src/workflows/checkout/CheckoutWorkflow.ts"
import { eventually } from "../support/Eventually.ts"
import { aCartWith } from "../support/Purchase.ts"
import { testAppLayer } from "../support/TestApp.ts"
import type { Boundary, Card, Moment, Round } from "./RepeatRounds.ts"
import { scriptedProvider } from "./ScriptedProvider.ts"

const provider = scriptedProvider()

/** Where a run stops, once. `opened` lets it go on or die. */
interface Gate {
  readonly at: Boundary
  passings: number
  readonly reached: Deferred.Deferred<void>
  readonly opened: Deferred.Deferred<void>
}

/** By the request that began the checkout and who runs it. */
const gates = new Map<string, Gate>()

export const gateAt = Effect.fnUntraced(function*(requestId: string, runner: "process" | "engine", at: Boundary) {
  const gate: Gate = { at, passings: 0, reached: yield* Deferred.make<void>(), opened: yield* Deferred.make<void>() }
  gates.set(`${requestId} ${runner}`, gate)
  return gate
})

const boundaries = Layer.succeed(AtFaultPoint, (point) =>
  Effect.gen(function*() {
    const actor = Option.getOrUndefined(yield* Effect.serviceOption(CurrentActor))
    const runner = Option.isSome(yield* Effect.serviceOption(WorkflowEngine.WorkflowInstance)) ? "engine" : "process"
    const gate = gates.get(`${actor?.requestId} ${runner}`)
    if (gate?.at.split(" ")[0] !== point) return
    gate.passings++
    if (gate.passings !== (gate.at === "undone again" ? 2 : 1)) return
    yield* Deferred.succeed(gate.reached, undefined)
    yield* Deferred.await(gate.opened)
  }))

const store = (capture: "automatic" | "manual") =>
  testAppLayer({ payments: { adapters: [provider.adapter], capture } }, { logLevel: "none" }).pipe(
    Layer.provide(boundaries)
  )

/** A store whose runs of checkouts stop where a round says. */
export const repeatingStore = store("automatic")

/** The same, where staff captures payments: for rounds of payments that are `kept`. */
export const keepingStore = store("manual")

type Answer =
  | { readonly _tag: "confirmed"; readonly order: Order }
  | { readonly _tag: "refused"; readonly message: string }
  | { readonly _tag: "later" }

export interface Shopper {
  readonly name: string
  readonly request: CheckoutRequest
}

/** Sends the request under the shopper's key. */
export const ask = Effect.fnUntraced(function*({ name, request }: Shopper, requestId: string) {
  const { start } = yield* Checkouts
  return yield* start(request, name, { key: name, scope: "rounds" }).pipe(
    Effect.map(({ order }): Answer => ({ _tag: "confirmed", order })),
    Effect.catch((error): Effect.Effect<Answer> => {
      if (error._tag === "CheckoutFailed") return Effect.succeed({ _tag: "refused", message: error.error.message })
      if (error._tag === "StillRunning" || error._tag === "Unavailable") return Effect.succeed({ _tag: "later" })
      return Effect.die(error)
    }),
    Effect.provideService(CurrentActor, { ...systemActor("org_default"), requestId })
  )
})

export const leaseRunsOut = ({ name }: Shopper) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.orDie(
      sql`update idempotency_keys set locked_until = now() - interval '1 second' where request_hash = ${name}`
    ))

export const runsOf = ({ request: { cartId } }: Shopper) =>
  Effect.map(
    SqlClient.SqlClient,
    (sql) => sql`(payload::jsonb #>> '{request,cartId}') = ${cartId}`
  )

/** Leaves the checkout to the engine, as when the process that runs it has died; undefined when nothing runs it. */
export const takeOver = Effect.fnUntraced(function*(shopper: Shopper) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* Effect.orDie(sql<{ payload: string }>`update checkout_runs
    set process = 0, started_at = now() - interval '1 minute'
    where ${yield* runsOf(shopper)} and process is not null returning payload`)
  if (row === undefined) return undefined
  yield* (yield* Checkouts).takeOver
  return decodePayload(row.payload)
})

export const endOfEngine = (payload: CheckoutPayload) =>
  eventually(
    "the engine to end the checkout",
    Effect.gen(function*() {
      const state = yield* CheckoutWorkflow.poll(yield* CheckoutWorkflow.executionId(payload))
      return Option.isSome(state) && state.value._tag === "Complete"
    })
  )

/** Takes over what died until nothing is under way. */
const atRest = (shopper: Shopper) =>
  eventually(
    "no run of the checkout to be left",
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* takeOver(shopper)
      const open = yield* Effect.orDie(sql`select 1 from checkout_runs where ${yield* runsOf(shopper)}`)
      return open.length === 0
    })
  )

interface Facts {
  readonly cart: string
  readonly orders: ReadonlyArray<{
    readonly id: string
    readonly status: string
    readonly captured: number | null
    readonly total: number
    readonly waits: boolean
  }>
  readonly held: number
}

const factsOf = ({ request: { cartId } }: Shopper) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.map(
      Effect.orDie(sql<Facts>`select c.status as cart, coalesce((select jsonb_agg(jsonb_build_object('id', o.id,
            'status', o.status, 'captured', o.amount_captured, 'total', o.grand_total,
            'waits', o.payment_due_at is not null)) from orders o where o.cart_id = c.id), '[]') as orders,
          (select count(*)::int4 from holds h where h.state = 'held'
            and h.pricing::jsonb ->> 'cartSecretHash' = c.secret_hash) as held
        from carts c where c.id = ${cartId}::uuid`),
      ([facts]) => facts ?? assert.fail("the cart has gone")
    ))

export const isVoid = (token: string) => {
  const payment = provider.paymentOf(token)
  return payment === undefined || payment.status === "canceled" && payment.captured === payment.refunded
}

/**
 * Lets everything end and asks once more. Only an order is confirmed that is paid, or waits for its shopper or staff;
 * nothing is left of a refused checkout.
 */
export const assertEndsHonest = Effect.fnUntraced(function*(
  card: Card,
  shopper: Shopper,
  before: ReadonlyArray<Answer>
) {
  yield* atRest(shopper)
  yield* leaseRunsOut(shopper)
  const answers = [...before, yield* ask(shopper, `${shopper.name}-last`)]
  yield* atRest(shopper)
  assert.notStrictEqual(answers.at(-1)?._tag, "later")
  const { cart, held, orders } = yield* factsOf(shopper)
  const live = orders.filter(({ status }) => status !== "cancelled")
  const outcomes = answers.filter(({ _tag }) => _tag !== "later")
  const isSold = card !== "declined" && card !== "broke"
  const expected = isSold ? "confirmed" : "refused"
  const given = outcomes.map(({ _tag }) => _tag)
  assert.isTrue(given.every((tag) => tag === expected), `answers must be ${expected}: ${given.join(", ")}`)
  assert.strictEqual(held, 0, "stock that is still held")
  if (!isSold) {
    assert.strictEqual(live.length, 0, "live orders of a checkout that was refused")
    assert.strictEqual(cart, "active")
    yield* eventually("the payment to be void", Effect.sync(() => isVoid(shopper.name)))
    return
  }
  const [order] = live
  assert.deepStrictEqual([live.length, orders.length, cart], [1, 1, "checked_out"])
  assert.strictEqual(order?.captured, card === "pays" ? order?.total : null)
  assert.strictEqual(order?.waits, card === "asks")
  for (const answer of outcomes) {
    if (answer._tag !== "confirmed") continue
    assert.strictEqual(answer.order.id, order?.id)
    assert.strictEqual(answer.order.amountCaptured, order?.captured, "confirmed before the order was settled")
  }
  assert.strictEqual(provider.paymentOf(shopper.name)?.captured, order?.captured ?? 0)
})

let shoppers = 0

/** A shopper with a filled cart and a card that does what it is named after. */
export const aShopper = Effect.fnUntraced(function*(entityId: string, card: Card) {
  const name = `${card}_shopper_${++shoppers}`
  const shopper: Shopper = {
    name,
    request: {
      cartId: CartId.make((yield* aCartWith(entityId)).id),
      paymentMethodId: "scripted",
      paymentMethodToken: name,
      currency: CurrencyCode.make("USD")
    }
  }
  return shopper
})

/** Sends a request and waits until it is answered, or its run is at the gate. */
export const sentUntil = Effect.fnUntraced(function*(gate: Gate, request: ReturnType<typeof ask>) {
  const fiber = yield* Effect.forkChild(request)
  yield* Effect.raceFirst(Deferred.await(gate.reached), Fiber.await(fiber))
  return { answer: Fiber.join(fiber) }
})

/** Begins a checkout whose run stops at the boundary; `wake` lets it go on and gives its answer. */
export const stoppedAt = Effect.fnUntraced(function*(shopper: Shopper, at: Boundary) {
  const gate = yield* gateAt(shopper.name, "process", at)
  const { answer } = yield* sentUntil(gate, ask(shopper, shopper.name))
  assert.isTrue(yield* Deferred.isDone(gate.reached), `no run comes to ${at}`)
  const open = Deferred.succeed(gate.opened, undefined)
  return { open, wake: Effect.andThen(open, answer) }
})

const goThrough = Effect.fnUntraced(function*(entityId: string, round: Round) {
  const { card, lease, other, otherAt, repeat, repeats, stoppedAt: firstAt, wakes } = round
  const shopper = yield* aShopper(entityId, card)
  const { name } = shopper
  const answers: Array<Answer> = []
  const keep = (answer: Answer) => Effect.sync(() => void answers.push(answer))
  const repeated = Effect.fnUntraced(function*(moment: Moment) {
    if (!repeats.includes(moment)) return
    if (lease === "runs out") yield* leaseRunsOut(shopper)
    const gate = yield* gateAt(`${name}-${moment}`, "process", "claimed")
    if (repeat === "lives") yield* Deferred.succeed(gate.opened, undefined)
    const { answer } = yield* sentUntil(gate, Effect.tap(ask(shopper, `${name}-${moment}`), keep))
    if (repeat === "lives") yield* answer
  })

  const first = yield* stoppedAt(shopper, firstAt)
  const woken = Effect.flatMap(first.wake, keep)
  yield* repeated("before")
  if (wakes === "before") yield* woken
  const engine = otherAt === "its end" ? undefined : yield* gateAt(name, "engine", otherAt)
  const taken = wakes === "before" ? undefined : yield* takeOver(shopper)
  if (taken !== undefined) {
    const end = endOfEngine(taken)
    yield* engine === undefined ? end : Deferred.await(engine.reached)
    yield* repeated("beside")
    if (wakes === "beside") yield* first.open
    if (engine !== undefined) {
      yield* other === "dies"
        ? Deferred.die(engine.opened, new Error("died"))
        : Deferred.succeed(engine.opened, undefined)
    }
    yield* end
  }
  yield* repeated("after")
  if (wakes === "beside" || wakes === "after") yield* woken
  yield* assertEndsHonest(card, shopper, answers)
  for (const key of gates.keys()) if (key.startsWith(`${name} `) || key.startsWith(`${name}-`)) gates.delete(key)
})

/** A failure names the round, so that it can be gone through again alone. */
export const assertAnswersAgree = (entityId: string, round: Round) =>
  goThrough(entityId, round).pipe(
    Effect.timeout("60 seconds"),
    Effect.catchCause((cause) => Effect.die(new Error(`${JSON.stringify(round)}: ${String(Cause.squash(cause))}`)))
  )
