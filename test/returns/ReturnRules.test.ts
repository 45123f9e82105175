import { assert, it } from "@effect/vitest"
import { Result } from "effect"
import { EntityId, newId, OrderId, OrderLineId } from "../../src/domain/platform/ids/Id.ts"
import { requestedLines, type SoldOrder } from "../../src/domain/returns/ReturnedGoods.ts"

it("a return never takes back stored value", () => {
  const line = (entityType: string) => ({
    id: OrderLineId.make(newId()),
    entityId: EntityId.make(newId()),
    variantId: null,
    entityType,
    title: "A thing",
    variantTitle: null,
    sku: null,
    returnable: 1,
    restockable: 1,
    unsent: 0,
    warehouseId: null
  })
  const [card, mug] = [line("giftCard"), line("product")]
  const sold: SoldOrder = {
    orderId: OrderId.make(newId()),
    orderNumber: "ORD-2026-000001",
    status: "fulfilled",
    paid: true,
    placedAt: new Date(0),
    deliveredAt: null,
    returns: 0,
    lines: [card, mug]
  }
  const asked = ({ id }: typeof card) =>
    requestedLines(sold, { lines: [{ lineItemId: id, quantity: 1 }] }, (type) => type === "giftCard")
  assert.isTrue(Result.isSuccess(asked(mug)))
  const refusal = asked(card)
  assert.match(Result.isFailure(refusal) ? refusal.failure.error.message : "", /stored value/)
})
