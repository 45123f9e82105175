import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { assertNothingLeft, assertTakenBack, checkoutFailed, onDatabase } from "../checkout/CheckoutFixtures.ts"
import { checkOut } from "../support/Purchase.ts"
import { api, asAdmin, live } from "../support/TestApp.ts"
import { aPurchase, assertReturned, balance, booksOf, card, pay, tenderedStore } from "./TenderedShop.ts"

layer(tenderedStore, live)(
  "an order that several payments share",
  (it) => {
    it.effect("takes from a gift card what it has, from the card the rest, and shows both", () =>
      Effect.gen(function*() {
        const purchase = yield* aPurchase()
        const made = yield* pay(purchase)
        assert.strictEqual(made.status, 201, JSON.stringify(made.body))
        const expected = {
          grandTotal: 10_000,
          amountCaptured: 10_000,
          amountDue: 0,
          tenders: [
            {
              method: "gift-card",
              label: `Gift card ending in ${purchase.cardToken.slice(-4)}`,
              amount: 3_000,
              captured: 3_000,
              refunded: 0,
              status: "captured"
            },
            { method: "scripted", label: "scripted", amount: 7_000, captured: 7_000, refunded: 0, status: "captured" }
          ]
        }
        assert.deepInclude(made.at("data"), expected)
        const read = yield* api("GET", `/api/orders/${made.text("data.id")}`, { as: asAdmin })
        assert.deepInclude(read.at("data"), expected)
        assert.deepStrictEqual(booksOf(purchase), {
          giftCard: { captured: 3_000, refunded: 0 },
          card: { captured: 7_000, refunded: 0 }
        })
      }))

    it.effect("asks no other provider when gift cards cover everything, and is then confirmed", () =>
      Effect.gen(function*() {
        const purchase = yield* aPurchase({ worth: 20_000 })
        const made = yield* pay(purchase)
        assert.deepStrictEqual([made.status, made.at("data.status"), made.at("data.amountDue")], [201, "confirmed", 0])
        assert.deepStrictEqual(made.list("data.tenders").length, 1)
        assert.strictEqual(made.at("data.tenders.0.amount"), 10_000)
        assert.deepStrictEqual(card.operationsFor(purchase.token), [])
      }))

    it.effect("takes payments in the order given, at most what is asked of each", () =>
      Effect.gen(function*() {
        const purchase = yield* aPurchase({ worth: 3_000 })
        const made = yield* pay(purchase, {
          giftCardCodes: [],
          giftCardCode: purchase.giftCard,
          tenders: [
            { method: "scripted", token: `first_${purchase.name}`, amount: 1_500 },
            { method: "gift-card", token: `900-${purchase.name}`, amount: 5_000 }
          ]
        })
        assert.deepStrictEqual(
          made.list("data.tenders").map((
            _,
            n
          ) => [made.at(`data.tenders.${n}.method`), made.at(`data.tenders.${n}.amount`)]),
          [["gift-card", 3_000], ["scripted", 1_500], ["gift-card", 900], ["scripted", 4_600]]
        )
        assert.strictEqual(made.at("data.amountCaptured"), 10_000)
      }))

    it.effect("stores no code of a gift card", () =>
      Effect.gen(function*() {
        const purchase = yield* aPurchase({ worth: 2_718 })
        yield* pay(purchase)
        const kept = yield* onDatabase((sql) =>
          sql<
            { n: number }
          >`select (select count(*) from cluster_messages where payload::text like ${`%${purchase.giftCard}%`})::int4
          + (select count(*) from holds where pricing::text like ${`%${purchase.giftCard}%`})::int4 as n`
        )
        assert.deepStrictEqual(kept, [{ n: 0 }])
      }))

    it.effect("fails with the message of the provider for a card that cannot pay, and leaves nothing", () =>
      Effect.gen(function*() {
        const purchase = yield* aPurchase()
        const made = yield* pay(purchase, { giftCardCodes: [purchase.giftCard, "unknown-7K2M"] })
        checkoutFailed(made, /ending in 7k2m is unknown/i)
        yield* assertNothingLeft(purchase.cart.id, purchase.entityId)
        assert.deepStrictEqual(balance.operationsFor(purchase.cardToken), [])
      }))

    it.effect("refuses a payment that is named twice, a method that is not known, and a malformed list", () =>
      Effect.gen(function*() {
        const purchase = yield* aPurchase()
        const { cart, giftCard } = purchase
        checkoutFailed(yield* checkOut(cart, { giftCardCodes: [giftCard, giftCard.toUpperCase()] }), /named twice/)
        checkoutFailed(yield* checkOut(cart, { tenders: [{ method: "barter", amount: 1 }] }), /barter is not accepted/)
        for (
          const tenders of [
            [{}],
            [{ method: "test", amount: 0 }],
            [{ method: "test", token: "x" }],
            Array(11).fill({ method: "test" })
          ]
        ) {
          const answer = yield* checkOut(cart, { tenders })
          assert.deepStrictEqual([answer.status, answer.at("error.code")], [422, "VALIDATION_FAILED"])
        }
        yield* assertNothingLeft(cart.id, purchase.entityId)
      }))

    it.effect("voids the first payment when the second is declined", () =>
      Effect.gen(function*() {
        const purchase = yield* aPurchase({ kind: "declined" })
        checkoutFailed(yield* pay(purchase), /was refused/)
        yield* assertReturned(purchase)
        yield* assertNothingLeft(purchase.cart.id, purchase.entityId)
      }))

    it.effect("gives the first payment back when the second cannot be captured", () =>
      Effect.gen(function*() {
        const purchase = yield* aPurchase({ kind: "broke" })
        checkoutFailed(yield* pay(purchase), /could not be captured/)
        yield* assertReturned(purchase)
        assert.deepStrictEqual(booksOf(purchase).giftCard, { captured: 3_000, refunded: 3_000 })
        yield* assertTakenBack(purchase.cart.id, purchase.entityId)
      }))

    it.effect("lets one payment of an order wait for its shopper, and not two", () =>
      Effect.gen(function*() {
        const purchase = yield* aPurchase({ kind: "asks" })
        const made = yield* pay(purchase)
        assert.strictEqual(made.status, 201)
        assert.match(made.text("data.paymentClientSecret"), /^secret_/)
        assert.deepStrictEqual(
          [made.at("data.tenders.0.status"), made.at("data.tenders.1.status"), made.at("data.amountDue")],
          ["authorized", "pending", 7_000]
        )
        const other = yield* aPurchase({ kind: "asks" })
        const tenders = [{ method: "scripted", token: `asks_too_${other.name}`, amount: 1_000 }]
        const refused = yield* pay(other, { tenders })
        checkoutFailed(refused, /Two payments/)
        assert.strictEqual(refused.at("error.details.reason"), "payment_requires_action")
        yield* assertReturned(other)
      }))
  }
)
