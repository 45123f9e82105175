import { assert, it, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { randomInt } from "node:crypto"
import { fileURLToPath } from "node:url"
import { onDatabase } from "../../../../test/support/Audit.ts"
import { eventually } from "../../../../test/support/Eventually.ts"
import { MortalShop } from "../../../../test/support/MortalShop.ts"
import { emulatedService, startEmulator } from "../../../../test/support/PaymentEmulator.ts"
import { freshDatabase } from "../../../../test/support/Postgres.ts"
import { aCartWith, aProduct, checkOut, type GuestCart } from "../../../../test/support/Purchase.ts"
import { placeOf, talkingTo } from "../../../../test/support/Service.ts"
import { persistently } from "../../../../test/support/ServiceCalls.ts"
import { api, asAdmin, live, TestApp } from "../../../../test/support/TestApp.ts"
import { faultPoints, tenderFaultPoints, undoFaultPoints } from "../../../workflows/checkout/CheckoutWorkflow.ts"
import { auditCards } from "./CardAudit.ts"

const program = fileURLToPath(new URL("./serveGiftCards.ts", import.meta.url))

const aCard = Effect.fnUntraced(function*(amount: number) {
  const { prepare } = yield* TestApp
  const made = yield* prepare("POST", "/api/gift-cards", { as: asAdmin, body: { amount, currency: "USD" } })
  return { id: made.text("data.id"), code: made.text("data.code") }
})

type MadeCard = Effect.Success<ReturnType<typeof aCard>>

const balanceOf = ({ id }: MadeCard) =>
  Effect.map(api("GET", `/api/gift-cards/${id}`, { as: asAdmin }), (read) => read.at("data.balance"))

interface Shopper {
  readonly cart: GuestCart
  readonly code: string
  /** How the provider takes what the card leaves. */
  readonly rest: "card" | "decline" | "nocapture"
}

/** One who buys so many things of 10.00. */
const shopperWith = (product: string) => (units: number, code: string, rest: Shopper["rest"] = "card") =>
  Effect.map(aCartWith(product, units), (cart): Shopper => ({ cart, code, rest }))

const buy = ({ cart, code, rest }: Shopper) =>
  checkOut(cart, { paymentMethodId: rest, giftCardCodes: [code] }, { "idempotency-key": `key-${cart.id}` })

const everyone = <A, B, E, R>(all: ReadonlyArray<A>, work: (one: A) => Effect.Effect<B, E, R>) =>
  Effect.forEach(all, work, { concurrency: "unbounded" })

layer(MortalShop.layer({ program }), live)(
  "a gift card of which several checkouts pay when their process dies",
  (it) => {
    it.effect.each([...faultPoints, ...tenderFaultPoints, ...undoFaultPoints])(
      "at the boundary \"%s\" is spent once, unit by unit, and what fails gives it back",
      (point) =>
        Effect.gen(function*() {
          const shop = yield* MortalShop
          const { shoppers, undone, used } = yield* Effect.gen(function*() {
            const shopper = shopperWith(yield* aProduct({ stock: 1_000 }))
            const [shared, used, undone] = [yield* aCard(3_000), yield* aCard(1_500), yield* aCard(1_500)]
            const shoppers = yield* Effect.all([
              shopper(2, used.code),
              shopper(2, undone.code, "nocapture"),
              shopper(1, shared.code),
              shopper(1, shared.code),
              shopper(4, shared.code),
              shopper(4, shared.code, "decline")
            ])
            return { shoppers, undone, used }
          }).pipe(Effect.provide(shop.app()))
          yield* shop.dyingAt(point, everyone(shoppers, buy))
          const answers = yield* everyone(shoppers, (one) => persistently(buy(one))).pipe(
            Effect.provide(shop.app())
          )
          const statuses = answers.map(({ status }) => status)
          assert.deepStrictEqual(statuses.slice(0, 2), [201, 422], JSON.stringify(answers.map(({ body }) => body)))
          assert.strictEqual(statuses[5], 422)
          yield* Effect.gen(function*() {
            yield* auditCards(shop.databaseUrl, shop.emulator)
            assert.deepStrictEqual([yield* balanceOf(used), yield* balanceOf(undone)], [0, 1_500])
          }).pipe(Effect.provide(shop.app()))
        })
    )
  }
)

/** How far all checkouts have come: holds, entries and orders. */
const steps = (url: string) =>
  onDatabase(url, (sql) =>
    Effect.map(
      sql`select (select count(*) from gift_card_holds)::int4
        + (select count(*) from gift_card_entries)::int4 + (select count(*) from orders)::int4 as n`,
      ([row]) => Number(row?.["n"] ?? 0)
    ))

it.live(
  "gift cards of which many checkouts pay are spent once while their process is killed again and again",
  () =>
    Effect.gen(function*() {
      const { url } = yield* freshDatabase
      const emulator = yield* startEmulator
      const place = yield* placeOf({ databaseUrl: url, ...emulatedService(emulator), program })
      yield* Effect.gen(function*() {
        const shopper = shopperWith(yield* aProduct({ stock: 1_000 }))
        const cards = yield* Effect.all([aCard(9_000), aCard(5_500), aCard(700)])
        const shoppers = yield* Effect.forEach(Array.from({ length: 30 }, (_, n) => n), (n) =>
          shopper(
            1 + n % 3,
            cards[n % cards.length]?.code ?? "",
            n % 7 === 5 ? "decline" : n % 7 === 6 ? "nocapture" : "card"
          ), {
          concurrency: 4
        })
        emulator.behave({ late: 20 })
        const crowd = yield* Effect.forkChild(
          Effect.forEach(shoppers, (one) => persistently(buy(one)), { concurrency: 8 })
        )
        for (let kill = 0; kill < 4 && crowd.pollUnsafe() === undefined; kill++) {
          const next = (yield* steps(url)) + randomInt(1, 12)
          yield* eventually(
            "steps between the kills",
            Effect.map(steps(url), (now) => now >= next || crowd.pollUnsafe() !== undefined)
          )
          yield* place.strike
        }
        const answers = yield* Fiber.join(crowd)
        assert.isAbove(
          answers.filter(({ status }) => status === 201).length,
          0
        )
        yield* auditCards(url, emulator)
      }).pipe(Effect.provide(talkingTo(place.service(), url)))
    }),
  240_000
)
