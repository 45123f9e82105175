import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { audit, soldOf } from "./Audit.ts"
import { aCartWith, aProduct, checkOut, type GuestCart } from "./Purchase.ts"
import { persistently } from "./ServiceCalls.ts"
import { type Answer, api, asAdmin, type TestApp } from "./TestApp.ts"

/**
 * A product of which there are few and some may wait for stock, and a cart with one piece of it for each of many buyers.
 */
export const aRush = Effect.fnUntraced(function*(pieces: number, buyers: number, backorderLimit = 0) {
  const product = yield* aProduct({ stock: pieces })
  if (backorderLimit > 0) {
    const body = { allowBackorder: true, backorderLimit }
    const changed = yield* api("PATCH", `/api/catalog/entities/${product}`, { as: asAdmin, body })
    assert.strictEqual(changed.status, 200)
  }
  const carts = yield* Effect.forEach(Array.from({ length: buyers }), () => aCartWith(product), { concurrency: 10 })
  return { product, carts }
})

/** The answers to all buyers who check out, so many at once, each with a key and until there is an outcome. */
export const everybodyBuys = (
  carts: ReadonlyArray<GuestCart>,
  round = 1,
  atOnce: number | "unbounded" = "unbounded"
): Effect.Effect<ReadonlyArray<Answer>, never, TestApp> =>
  Effect.forEach(
    carts,
    (cart) => checkOut(cart, {}, { "idempotency-key": `round-${round}-${cart.id}` }).pipe(persistently),
    { concurrency: atOnce }
  )

const refusal = /^Insufficient stock/

/** Asserts that exactly so many were sold, that every buyer got the right answer, and that the books are right. */
export const soldExactly = Effect.fnUntraced(function*(
  databaseUrl: string,
  product: string,
  pieces: number,
  answers: ReadonlyArray<Answer>
) {
  const recorded = Map.groupBy(answers, ({ status }) => status)
  assert.deepStrictEqual(new Set(recorded.keys()), new Set([201, 422]), JSON.stringify(answers.map(({ body }) => body)))
  for (const answer of recorded.get(422) ?? []) assert.match(answer.text("error.message"), refusal)
  yield* audit(databaseUrl)
  assert.strictEqual(recorded.get(201)?.length, pieces)
  assert.strictEqual(yield* soldOf(databaseUrl, product), pieces)
})
