import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { audit } from "../support/Audit.ts"
import { freshDatabase } from "../support/Postgres.ts"
import { aCartWith, aGuestCart, aProduct, checkOut, putInto } from "../support/Purchase.ts"
import { startDeployment, talkingTo, talkingToAll } from "../support/Service.ts"
import { persistently } from "../support/ServiceCalls.ts"
import { api } from "../support/TestApp.ts"

const all = { concurrency: "unbounded" } as const

/** Variables that Effect's cluster would follow, each to a deployment in which no runner has any actors. */
const ofEffect = { SHARD_GROUPS: "elsewhere", RUNNER_SHARD_WEIGHT: "0" }

it.live("two edges and three runners are one service, also when a runner is taken away", () =>
  Effect.gen(function*() {
    const { url } = yield* freshDatabase
    const { apis, runners } = yield* startDeployment(url, { apis: 2, runners: 3, environment: ofEffect })
    const [left, right] = apis
    assert.isDefined(left)
    assert.isDefined(right)
    const both = talkingToAll(apis, url)

    const cart = yield* aGuestCart().pipe(Effect.provide(talkingTo(left, url)))
    const product = yield* aProduct({ stock: 1_000 }).pipe(Effect.provide(talkingTo(right, url)))
    yield* Effect.forEach(Array.from({ length: 20 }), () => putInto(cart, product), all).pipe(Effect.provide(both))
    const seen = yield* api("GET", `/api/carts/${cart.id}`, { headers: cart.headers }).pipe(
      Effect.provide(talkingTo(right, url))
    )
    assert.strictEqual(seen.number("data.lineItems.0.quantity"), 20)
    const line = seen.text("data.lineItems.0.id")
    const set = yield* api("PATCH", `/api/carts/${cart.id}/items/${line}`, {
      headers: cart.headers,
      body: { quantity: 3 }
    }).pipe(persistently, Effect.provide(talkingTo(left, url)))
    assert.strictEqual(set.number("data.quantity"), 3)

    const buy = checkOut(cart, {}, { "idempotency-key": "bought-once" }).pipe(persistently)
    const bought = yield* buy.pipe(Effect.provide(talkingTo(left, url)))
    assert.strictEqual(bought.status, 201, JSON.stringify(bought.body))
    const again = yield* buy.pipe(Effect.provide(talkingTo(right, url)))
    assert.strictEqual(again.at("data.id"), bought.at("data.id"))
    assert.strictEqual(again.number("data.grandTotal"), 3_000)

    const carts = yield* Effect.forEach(Array.from({ length: 20 }), () => aCartWith(product), all).pipe(
      Effect.provide(both)
    )
    runners[0]?.kill("SIGTERM")
    const answers = yield* Effect.forEach(
      carts,
      (one) => checkOut(one, {}, { "idempotency-key": one.id }).pipe(persistently),
      all
    ).pipe(Effect.provide(both))
    assert.deepStrictEqual(new Set(answers.map(({ status }) => status)), new Set([201]))
    yield* audit(url)
  }))
