import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { ann, type BoxShop, openBoxShop } from "./BoxShop.ts"

const buyer = { ...ann, permissions: [...ann.permissions, "orders:create"] }

describe("the cart of a scheduled order", () => {
  let shop: BoxShop
  beforeAll(async () => {
    shop = await openBoxShop({ retryMinutes: [60] })
  }, 60_000)
  afterAll(() => shop.close())

  const buy = (cartId: string) =>
    shop.ask("POST", "/checkout", { cartId, paymentMethodId: "test", currency: "USD" }, buyer)

  it("is neither bought nor scheduled again while the order has failed and is tried again", async () => {
    const id = await shop.scheduled({ paymentMethodId: "test_decline" })
    const { cartId } = await shop.due(id, "failed")
    assert.strictEqual((await buy(cartId)).status, 422)
    await shop.refused("409 CONFLICT", "POST", "", shop.wish(cartId), ann)
    await shop.done("POST", `/${id}/cancel`, undefined, ann)
    assert.strictEqual((await buy(cartId)).status, 201)
  })
})
