import { buildersOf } from "stoa/plugin/testing"
import { waitFor } from "../../../../test/support/waitFor.ts"
import { openShop } from "./ChannelShop.ts"

type Row = Readonly<Record<string, unknown>>

const address = { name: "Ann Lee", line1: "1 High Street", city: "London", postalCode: "SW1A 1AA", country: "GB" }

/** A deployment that sells goods of stores in memory. */
export const openOrderShop = async (...options: Parameters<typeof openShop>) => {
  const shop = await openShop(...options)
  const { db } = shop.app
  const { product } = buildersOf(shop.app)
  let goods = 0
  const one = async (text: string, values: ReadonlyArray<unknown>): Promise<Row> =>
    (await db.query(text, values))[0] ?? {}
  const row = (orderId: string, storeId: string) =>
    one("select * from channel_order_exports where order_id = $1 and store_id = $2", [orderId, storeId])
  return {
    ...shop,
    row,
    /** A product that a store ships; without a variant there it knows none. */
    goodsOf: async (storeId: string, price = 1_000, isKnown = true) => {
      const id = await product({ price })
      const externalId = `goods-${++goods}`
      shop.memory.levels.set(externalId, 1_000)
      await db.query("update catalog_entities set source_store_id = $2 where id = $1", [id, storeId])
      if (isKnown) {
        await db.query(
          `insert into channel_entity_map (id, organization_id, store_id, kind, external_id, entity_id)
            values (gen_random_uuid(), 'org_default', $1, 'variant', $2, $3)`,
          [storeId, externalId, id]
        )
      }
      return { id, externalId }
    },
    /** A paid order of a guest; its id. */
    order: async (
      things: ReadonlyArray<readonly [{ readonly id: string; readonly variantId?: unknown }, number]>,
      terms: object = {}
    ) => {
      const cart = await shop.ask("POST", "/carts", { currency: "USD", email: "ann@example.com" }, null)
      const headers = { "x-cart-secret": cart.text("data.secret") }
      const cartId = cart.text("data.id")
      for (const [{ id: entityId, variantId }, quantity] of things) {
        await shop.ask("POST", `/carts/${cartId}/items`, { entityId, variantId, quantity }, null, headers)
      }
      const body = { cartId, paymentMethodId: "test", currency: "USD", shippingAddress: address, ...terms }
      return (await shop.ask("POST", "/checkout", body, null, headers)).text("data.id")
    },
    /** Connects the store long ago. */
    grown: (storeId: string) =>
      db.query("update connected_stores set connected_at = now() - interval '8 days' where id = $1", [storeId]),
    orderOf: (id: string) => shop.ask("GET", `/orders/${id}`),
    /** Waits until an export is in a state; its row. */
    exported: async (orderId: string, storeId: string, state: string) => {
      await waitFor(`the export is ${state}`, async () => (await row(orderId, storeId))["state"] === state)
      return row(orderId, storeId)
    },
    /** What was sent of an order. */
    slicesOf: (orderId: string) => shop.memory.slices.filter((slice) => slice.orderId === orderId),
    /** Waits until the jobs about an order rest. */
    rested: (orderId: string) =>
      shop.rested("the jobs of the order", "input->>'orderId' = $2 or input->>'entityId' = $2", orderId)
  }
}
export type OrderShop = Awaited<ReturnType<typeof openOrderShop>>
