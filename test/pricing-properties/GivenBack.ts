import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { type Answer, api, at } from "../support/TestApp.ts"
import type { Chance } from "./Chance.ts"
import type { countedPayments } from "./CountedPayments.ts"
import type { OpenShop } from "./OpenShop.ts"
import type { Bought } from "./Purchases.ts"
import { anyParts, refundable } from "./RandomRefunds.ts"
import type { Wish } from "./Shop.ts"

const amountsOf = (answers: ReadonlyArray<Answer>, about: string): number =>
  answers.reduce((sum, answer) => {
    assert.include([201, 409, 422], answer.status, `${about} ${JSON.stringify(answer.body)}`)
    if (answer.status !== 201) return sum
    assert.strictEqual(answer.at("data.status"), "completed", about)
    const parts = answer.list("data.lines").reduce<number>((total, line) => total + Number(at(line, "amount")), 0)
    const { amount, shipping } = { amount: answer.number("data.amount"), shipping: answer.number("data.shipping") }
    if (parts + shipping > 0) assert.strictEqual(parts + shipping, amount, about)
    return sum + amount
  }, 0)

/**
 * Gives an order back by requests that are all sent at the same moment: first random parts, some of them more than there
 * is, then in a few parts of each line what is left. Order and provider count the same, never more than was captured, in the end all.
 */
export const giveBackAtOnce = Effect.fnUntraced(
  function*(
    chance: Chance,
    { as }: OpenShop,
    payments: ReturnType<typeof countedPayments>,
    { bill, order }: Bought,
    wish: Wish,
    about: string
  ) {
    const [id, intent] = [order.text("data.id"), order.text("data.paymentIntentId")]
    const captured = bill.grandTotal
    const byParts = chance.inHundred(50)
    const refund = (body: object) => api("POST", `/api/orders/${id}/refunds`, { as, body })
    const recorded = Effect.fnUntraced(function*(given: number) {
      const read = yield* api("GET", `/api/orders/${id}`, { as })
      assert.strictEqual(read.at("data.refundedTotal"), given, about)
      assert.strictEqual(payments.bookOf(intent).refunded, given, about)
      assert.isAtMost(given, captured, about)
    })
    const lineIds = order.list("data.lineItems").map((line) => at(line, "id"))
    const whole = refundable(bill, wish, captured)
    const requests = Array.from({ length: chance.between(2, 5) }, () => {
      const { lines, ...parts } = anyParts(chance, whole)
      const named = lines?.map((line) => ({ ...line, lineItemId: lineIds[Number(line.lineItemId)] }))
      return {
        ...parts,
        ...(named === undefined ? {} : { lines: named }),
        ...(byParts ? {} : { amount: chance.between(1, captured) })
      }
    }).filter((request) => !byParts || "lines" in request || "shipping" in request)
    const first = yield* Effect.all(requests.map(refund), { concurrency: "unbounded" })
    const given = amountsOf(first, about)
    yield* recorded(given)
    if (!byParts) {
      const rests = yield* Effect.all([refund({}), refund({}), refund({})], { concurrency: "unbounded" })
      yield* recorded(given + amountsOf(rests, about))
    } else {
      const left = yield* api("GET", `/api/orders/refunds/cap?orderId=${id}`, { as })
      const units = left.list("data.lines").flatMap((line) =>
        Array.from(
          { length: Number(at(line, "quantity")) },
          () => ({ lineItemId: at(line, "lineItemId"), quantity: 1 })
        )
      )
      // One more of each than there is.
      const surplus = lineIds.map((lineItemId) => ({ lineItemId, quantity: 1 }))
      const rests = [...units, ...surplus].map((line) => refund({ lines: [line] }))
      const shipping = [1, 2].map(() => refund({ shipping: true }))
      yield* recorded(given + amountsOf(yield* Effect.all([...rests, ...shipping], { concurrency: 12 }), about))
    }
    assert.strictEqual(payments.bookOf(intent).refunded, captured, `${about}, ${byParts ? "by parts" : "by amounts"}`)
    assert.strictEqual((yield* refund({})).status, 409, about)
  }
)
