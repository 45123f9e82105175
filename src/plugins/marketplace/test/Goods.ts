import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { onDatabase } from "../../../../test/checkout/CheckoutFixtures.ts"
import { aGuestCart, aProduct, checkOut, type ProductOptions, putInto } from "../../../../test/support/Purchase.ts"
import { asAdmin, asCustomer } from "../../../../test/support/TestApp.ts"
import { EntityId, newId, OrderId, OrderLineId } from "../../../domain/platform/ids/Id.ts"
import type { NewRowOf } from "../../kit/tables/Table.ts"
import { vendorEntities } from "../products/VendorProduct.ts"
import { vendors } from "../vendors/Vendor.ts"
import { asVendor, done } from "./Calls.ts"
import { onTables } from "./Market.ts"

export type VendorSpec = Partial<NewRowOf<typeof vendors>> & { readonly within?: string }

/** A vendor that is approved and has no minimum of payouts, unless the test says otherwise; its id. */
export const aVendor = ({ within, ...spec }: VendorSpec = {}) =>
  Effect.suspend(() => {
    const id = newId()
    const row = { id, name: `Vendor ${id}`, slug: id, status: "approved", payoutMinimumCents: 0, ...spec } as const
    return Effect.as(onTables((db) => db.table(vendors).insert(row), within), id)
  })

/** Makes a thing of the catalog a vendor's. */
export const giveTo = (vendorId: string, entityId: string) =>
  onTables((db) => db.table(vendorEntities).insert({ vendorId, entityId: EntityId.make(entityId) }))

/** A category of the catalog; its id. */
export const aCategory = (slug: string, parentId?: string) =>
  Effect.map(done(asAdmin, "POST /api/catalog/categories", { slug, parentId }), (made) => made.text("data.id"))

/** A product of a vendor that can be bought, and its id. */
export const aProductOf = Effect.fnUntraced(function*(vendorId: string, options: ProductOptions = {}) {
  const entityId = yield* aProduct(options)
  yield* giveTo(vendorId, entityId)
  return entityId
})

/** Buys things by checkout, each so many times; the order's id. */
export const anOrderOf = Effect.fnUntraced(
  function*(things: ReadonlyArray<readonly [entityId: string, quantity?: number]>, checkout: object = {}) {
    const cart = yield* aGuestCart()
    for (const [entityId, quantity = 1] of things) yield* putInto(cart, entityId, quantity)
    const placed = yield* checkOut(cart, checkout)
    assert.strictEqual(placed.status, 201, JSON.stringify(placed.body))
    return placed.text("data.id")
  }
)

/** Units of a vendor's product that a customer bought by checkout, delivered from stock. */
export const aDelivery = Effect.fnUntraced(function*(quantity = 3, options: ProductOptions = {}) {
  const vendorId = yield* aVendor()
  const entityId = yield* aProductOf(vendorId, options)
  const orderId = OrderId.make(yield* anOrderOf([[entityId, quantity]]))
  const buyer = asCustomer(`buyer-${newId()}`)
  const customerId = (yield* done(buyer, "GET /api/me/profile")).text("data.id")
  yield* onDatabase((sql) => sql`update orders set customer_id = ${customerId}::uuid where id = ${orderId}::uuid`)
  const subOrderId = (yield* subOrderOf(orderId, vendorId)).text("data.id")
  yield* done(asAdmin, `PATCH /sub-orders/${subOrderId}/status`, { status: "delivered" })
  const id = (yield* done(asAdmin, `GET /api/orders/${orderId}`)).text("data.lineItems.0.id")
  const people = { buyer, vendor: asVendor(vendorId), within: "org_default" }
  return {
    orderId,
    subOrderId,
    vendorId,
    customerId,
    lines: [{ id: OrderLineId.make(id), entityId, quantity }],
    ...people
  }
})

/** The sub-orders of an order as staff reads them. */
export const subOrdersOf = (orderId: string) => done(asAdmin, `GET /sub-orders?orderId=${orderId}&limit=100`)

/** A vendor's sub-order of an order. */
export const subOrderOf = Effect.fnUntraced(function*(orderId: string, vendorId: string) {
  const found = yield* done(asAdmin, `GET /sub-orders?orderId=${orderId}&vendorId=${vendorId}`)
  return yield* done(asAdmin, `GET /sub-orders/${found.text("data.0.id")}`)
})
