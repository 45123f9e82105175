import { assert } from "@effect/vitest"
import { openKitchen } from "./KitchenShop.ts"

interface GroupOfOptions {
  readonly id: string
  readonly option: (name: string, priceAdjustment?: number, body?: object) => Promise<string>
}

/** A restaurant with a menu, whose guests order at tills and online. */
export const openMenu = async (...options: Parameters<typeof openKitchen>) => {
  const shop = await openKitchen(...options)
  const { ask, done, product, tills } = shop

  const groupOf = async (body: object): Promise<GroupOfOptions> => {
    const id = (await done("POST", "/modifier-groups", body)).text("data.id")
    const option = async (name: string, priceAdjustment = 0, more: object = {}) =>
      (await done("POST", `/modifier-groups/${id}/options`, { name, priceAdjustment, ...more })).text("data.id")
    return { id, option }
  }
  /** A dish for 10.00 with one required size. */
  const dish = async (price = 1_000) => {
    const entityId = await product({ price })
    const sizes = await groupOf({ entityId, name: "Size", isRequired: true })
    const [small, large] = [await sizes.option("Small"), await sizes.option("Large", 250)]
    const size = (...optionIds: ReadonlyArray<string>) => ({ modifiers: [{ groupId: sizes.id, optionIds }] })
    return { entityId, sizes, small, large, size }
  }
  /** A combo of one of two dishes, with a surcharge of 1.50 for the second. */
  const combo = async (body: object = {}) => {
    const entityId = await product({ price: 2_000 })
    const made = await done("POST", "/combos", { name: "Lunch", entityId, ...body })
    const groupId = (await done("POST", `/combos/${made.text("data.id")}/groups`, { name: "Main" })).text("data.id")
    const dishes = [await product(), await product()] as const
    const item = async (of: string, itemName: string, priceAdjustment: number) =>
      (await done("POST", `/combo-groups/${groupId}/items`, { entityId: of, itemName, priceAdjustment })).text(
        "data.id"
      )
    const items = [await item(dishes[0], "Soup", 0), await item(dishes[1], "Steak", 150)] as const
    const pick = (...itemIds: ReadonlyArray<string>) => ({ combo: itemIds.map((itemId) => ({ groupId, itemId })) })
    return { comboId: made.text("data.id"), entityId, groupId, dishes, items, pick }
  }
  const menu = (entityId: string, body: object) => done("PUT", `/menu/${entityId}`, body)
  const left = async (entityId: string) => {
    const entry = await done("GET", `/menu?entityId=${entityId}`)
    return { isAvailable: entry.at("data.0.isAvailable"), remaining: entry.at("data.0.remaining") }
  }

  /** A visitor's cart. */
  const cart = async (metadata: object = {}) => {
    const made = await ask("POST", "/carts", { currency: "USD", metadata }, null)
    const [id, headers] = [made.text("data.id"), { "x-cart-secret": made.text("data.secret") }]
    const add = (entityId: string, more: object = {}, quantity = 1) =>
      ask("POST", `/carts/${id}/items`, { entityId, quantity, metadata: more }, null, headers)
    const read = () => ask("GET", `/carts/${id}`, undefined, null, headers)
    const quote = () => ask("POST", `/carts/${id}/quote`, {}, null, headers)
    const checkout = (body: object = {}) =>
      ask("POST", "/checkout", { cartId: id, currency: "USD", paymentMethodId: "test", ...body }, null, headers)
    return { id, add, read, quote, checkout }
  }
  /** An order that was made online. */
  const ordered = async (entityId: string, metadata: object = {}, quantity = 1) => {
    const basket = await cart()
    const added = await basket.add(entityId, metadata, quantity)
    assert.isBelow(added.status, 300, JSON.stringify(added.body))
    return basket.checkout()
  }
  /** Something that a station cooks. */
  const routed = async () => {
    const food = shop.group()
    await shop.station([food])
    return shop.dish(food)
  }
  const cancel = (orderId: string) => tills.core("PATCH", `/orders/${orderId}/status`, { status: "cancelled" })
  /** Pays a transaction in cash and completes it. */
  const settle = async (path: string) => {
    const due = (await tills.read(path)).number("data.amountDue")
    if (due > 0) await tills.pay(path, due)
    return ask("POST", `/pos${path}/complete`)
  }
  return { ...shop, routed, groupOf, dish, combo, menu, left, cart, ordered, cancel, settle }
}

export type MenuShop = Awaited<ReturnType<typeof openMenu>>
