import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { aCustomerCart } from "../checkout/CheckoutFixtures.ts"
import { aProduct, type ProductOptions } from "../support/Purchase.ts"
import { type Answer, api, asAdmin, asCustomer, asStaff } from "../support/TestApp.ts"

export interface Sold {
  readonly id: string
  readonly orderNumber: string
  readonly lineId: string
  readonly entityId: string
  readonly buyer: typeof asAdmin
}

let buyers = 0

/** An order of units of one product by a new customer, paid and handed over. */
export const sold = Effect.fnUntraced(function*(quantity = 2, options: ProductOptions = {}, handedOver = true) {
  const buyer = asCustomer(`returning-${++buyers}`)
  const entityId = yield* aProduct({ price: 1_000, stock: 10, ...options })
  const cart = yield* aCustomerCart(buyer)
  yield* api("POST", `/api/carts/${cart.id}/items`, { as: buyer, body: { entityId, quantity } })
  const bought = { cartId: cart.id, paymentMethodId: "test", currency: "USD" }
  const order = yield* expecting(201, api("POST", "/api/checkout", { as: buyer, body: bought }))
  const id = order.text("data.id")
  if (handedOver) {
    for (const status of ["confirmed", "processing", "fulfilled"]) {
      yield* expecting(200, api("PATCH", `/api/orders/${id}/status`, { as: asAdmin, body: { status } }))
    }
  }
  const sold: Sold = {
    id,
    orderNumber: order.text("data.orderNumber"),
    lineId: order.text("data.lineItems.0.id"),
    entityId,
    buyer
  }
  return sold
})

/** The answer, which must have this status. */
export const expecting = <E, R>(status: number, answer: Effect.Effect<Answer, E, R>) =>
  Effect.tap(answer, (found) => Effect.sync(() => assert.strictEqual(found.status, status, JSON.stringify(found.body))))

export const ask = ({ id, lineId }: Sold, quantity = 1, more: object = {}, as: typeof asAdmin = asStaff) =>
  api("POST", `/api/orders/${id}/returns`, { as, body: { lines: [{ lineItemId: lineId, quantity }], ...more } })

export const askOwn = ({ buyer, id, lineId }: Sold, quantity = 1, as = buyer) =>
  api("POST", `/api/me/orders/${id}/returns`, { as, body: { lines: [{ lineItemId: lineId, quantity }] } })

/** Takes a step of a return. */
export const step = ({ id }: Sold, returnId: string, verb: string, body?: object, as: typeof asAdmin = asStaff) =>
  api("POST", `/api/orders/${id}/returns/${returnId}/${verb}`, { as, ...body && { body } })

export const receipt = ({ lineId }: Sold, quantity = 1, more: object = { disposition: "restock" }) => ({
  lines: [{ lineItemId: lineId, quantity, ...more }]
})

/** A return of some units that has come back to the shelf. */
export const received = Effect.fnUntraced(
  function*(order: Sold, quantity = 1, more: object = { disposition: "restock" }) {
    const id = (yield* expecting(201, ask(order, quantity))).text("data.id")
    yield* expecting(200, step(order, id, "approve"))
    yield* expecting(200, step(order, id, "receive", receipt(order, quantity, more)))
    return id
  }
)
