import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor } from "../../src/domain/platform/access/Actor.ts"
import { Checkouts } from "../../src/workflows/checkout/Checkouts.ts"
import { AtFaultPoint, type FaultPoint } from "../../src/workflows/checkout/CheckoutWorkflow.ts"
import { eventually } from "../support/Eventually.ts"
import { aCartWith, aProduct, checkOut, type GuestCart } from "../support/Purchase.ts"
import { live, testAppLayer } from "../support/TestApp.ts"
import { assertNothingLeft, checkoutFailed, ordersFrom } from "./CheckoutFixtures.ts"
import { refusal, scriptedProvider } from "./ScriptedProvider.ts"

const provider = scriptedProvider()

interface Gate {
  readonly at: FaultPoint
  readonly reached: Deferred.Deferred<void>
  readonly opened: Deferred.Deferred<void>
}

/** Where the first run of a request freezes, by the id of the request. */
const gates = new Map<string, Gate>()

const freezing = Layer.succeed(AtFaultPoint, (point) =>
  Effect.gen(function*() {
    const requestId = Option.getOrUndefined(yield* Effect.serviceOption(CurrentActor))?.requestId ?? ""
    const gate = gates.get(requestId)
    if (gate === undefined || gate.at !== point) return
    gates.delete(requestId)
    yield* Deferred.succeed(gate.reached, undefined)
    yield* Deferred.await(gate.opened)
  }))

/** Checks out in a process that freezes at this boundary until `thaw`; another one has taken over then. */
const frozenAt = Effect.fnUntraced(function*(at: FaultPoint, cart: GuestCart, token: string) {
  const gate: Gate = { at, reached: yield* Deferred.make<void>(), opened: yield* Deferred.make<void>() }
  gates.set(token, gate)
  const request = yield* Effect.forkChild(
    checkOut(cart, { paymentMethodId: "scripted", paymentMethodToken: token }, { "x-request-id": token })
  )
  yield* Deferred.await(gate.reached)
  const sql = yield* SqlClient.SqlClient
  return {
    takeOver: Effect.gen(function*() {
      // No process has this number: as if its lock had gone.
      yield* Effect.orDie(sql`update checkout_runs set process = 0, started_at = now() - interval '1 minute'`)
      yield* (yield* Checkouts).takeOver
      yield* eventually(
        "the other run to end",
        Effect.map(Effect.orDie(sql`select 1 from checkout_runs`), (rows) => rows.length === 0)
      )
    }),
    thaw: Effect.andThen(Deferred.succeed(gate.opened, undefined), Fiber.join(request))
  }
})

const frozenStore = testAppLayer({ payments: { adapters: [provider.adapter] } }, { logLevel: "none" }).pipe(
  Layer.provide(freezing)
)

layer(frozenStore, live)("the request of a frozen checkout", (it) => {
  it.effect("gets the order of the run that took over, paid once", () =>
    Effect.gen(function*() {
      const cart = yield* aCartWith(yield* aProduct())
      const { takeOver, thaw } = yield* frozenAt("authorized", cart, "card_paid")
      yield* takeOver
      const answer = yield* thaw
      assert.strictEqual(answer.status, 201, JSON.stringify(answer.body))
      const [order, ...others] = yield* ordersFrom(cart.id)
      assert.deepInclude(order, { id: answer.at("data.id"), amountCaptured: answer.at("data.amountCaptured") })
      assert.deepStrictEqual(others, [])
      assert.strictEqual(provider.paymentOf("card_paid")?.captured, answer.at("data.grandTotal"))
    }))

  it.effect("gets the failure of the run that took over, and voids what it authorized after it", () =>
    Effect.gen(function*() {
      const entityId = yield* aProduct()
      const cart = yield* aCartWith(entityId)
      const { takeOver, thaw } = yield* frozenAt("reserved", cart, "card_late")
      let declines = true
      provider.obstruct("card_late", (operation) => operation === "authorize" && declines ? refusal : Effect.void)
      yield* takeOver
      declines = false
      checkoutFailed(yield* thaw)
      yield* eventually(
        "the payment to be void",
        Effect.sync(() => provider.paymentOf("card_late")?.status === "canceled")
      )
      yield* assertNothingLeft(cart.id, entityId)
    }))
})
