import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { faultPoints, tenderFaultPoints } from "../../src/workflows/checkout/CheckoutWorkflow.ts"
import { assertTakenBack, checkoutFailed } from "../checkout/CheckoutFixtures.ts"
import { type Obstacle, type PaymentOperation, refusal, silence } from "../checkout/ScriptedProvider.ts"
import { audit } from "../support/Audit.ts"
import { live, TestApp } from "../support/TestApp.ts"
import {
  aPurchase,
  assertReturned,
  balance,
  booksOf,
  card,
  pay,
  type TenderedPurchase,
  tenderedStore
} from "./TenderedShop.ts"

/** Each boundary of a checkout with two payments, and how often it is passed. */
const boundaries = [
  ...faultPoints.map((point) => [point, 1] as const),
  ...tenderFaultPoints.flatMap((point) => [[point, 1], [point, 2]] as const)
]

/** Each boundary of a checkout that is undone. */
const undoing = [["undone", 1], ["undone", 2], ["failed", 1]] as const

/** The calls of a checkout with two payments. */
const calls = (["giftCard", "card"] as const).flatMap((payment) =>
  (["authorize", "capture"] as const).map((operation) => [payment, operation] as const)
)

type Call = typeof calls[number]

/** Puts something in the way of the first so many calls of one kind; later ones are heard. */
const obstruct = (
  { cardToken, token }: TenderedPurchase,
  [payment, operation]: Call,
  what: ReturnType<Obstacle>,
  times: number
) => {
  const [provider, instrument] = payment === "card" ? [card, token] as const : [balance, cardToken] as const
  provider.obstruct(
    instrument,
    (asked: PaymentOperation, nth) => asked === operation && nth <= times ? what : Effect.void
  )
}

/** Paid once by each payment. */
const assertPaid = Effect.fnUntraced(
  function*(purchase: TenderedPurchase, about: string, death?: typeof boundaries[number]) {
    const made = yield* pay(purchase, {}, death)
    assert.strictEqual(made.status, 201, `${about}: ${JSON.stringify(made.body)}`)
    assert.deepInclude(made.at("data"), { amountCaptured: 10_000, amountDue: 0 }, about)
    assert.deepStrictEqual(
      made.list("data.tenders").map((_, n) => made.at(`data.tenders.${n}.captured`)),
      [3_000, 7_000],
      about
    )
    assert.deepStrictEqual(
      booksOf(purchase),
      { giftCard: { captured: 3_000, refunded: 0 }, card: { captured: 7_000, refunded: 0 } },
      about
    )
  }
)

/** Nothing is left of it: no money, no stock, no order that is not cancelled. */
const assertUndone = Effect.fnUntraced(function*(purchase: TenderedPurchase, death?: Parameters<typeof pay>[2]) {
  checkoutFailed(yield* pay(purchase, {}, death))
  yield* assertReturned(purchase)
  yield* assertTakenBack(purchase.cart.id, purchase.entityId)
})

layer(tenderedStore, live)("a checkout with two payments", (it) => {
  it.effect(
    "ends paid once by each, wherever its process dies",
    () =>
      Effect.forEach(
        boundaries,
        (death) => Effect.flatMap(aPurchase(), (purchase) => assertPaid(purchase, death.join(" "), death)),
        {
          concurrency: 4,
          discard: true
        }
      )
  )

  it.effect(
    "ends paid once by each when a provider does not answer the first time",
    () =>
      Effect.forEach(calls, (call) =>
        Effect.gen(function*() {
          const purchase = yield* aPurchase()
          obstruct(purchase, call, silence, 1)
          yield* assertPaid(purchase, call.join(" "))
        }), { concurrency: 4, discard: true })
  )

  it.effect("leaves nothing when a provider refuses, at whichever step its process dies then", () =>
    Effect.forEach(
      calls.flatMap((call) => [
        [call, undefined] as const,
        ...undoing.map((death) => [call, death] as const)
      ]),
      ([call, death]) =>
        Effect.gen(function*() {
          const purchase = yield* aPurchase()
          obstruct(purchase, call, refusal, Infinity)
          yield* assertUndone(purchase, death)
        }),
      { concurrency: 4, discard: true }
    ))

  it.effect(
    "leaves nothing when a provider is silent until the checkout has given up",
    () =>
      Effect.forEach(calls, (call) =>
        Effect.gen(function*() {
          const purchase = yield* aPurchase()
          obstruct(purchase, call, silence, 3)
          yield* assertUndone(purchase)
        }), { concurrency: 4, discard: true })
  )

  it.effect("keeps its books through all of this", () =>
    Effect.flatMap(TestApp, ({ databaseUrl }) => audit(databaseUrl)))
})
