import { assert } from "@effect/vitest"
import { randomUUID } from "node:crypto"
import { buildersOf } from "stoa/plugin/testing"
import { uom } from "../../uom/index.ts"
import { openUnitShop } from "../../uom/test/UnitShop.ts"
import { warehouse } from "../../warehouse/index.ts"
import { production } from "../index.ts"

/** A line of a recipe: a material, how much of it, and what else is said of it. */
export type Ingredient = readonly [entityId: string, quantity: number | string, more?: object]

const lines = (all: ReadonlyArray<Ingredient>) =>
  all.map(([entityId, quantity, more]) => ({ entityId, itemName: "Material", quantity, unitCost: 0, ...more }))

/** A store that makes what it sells. */
export const openKitchen = async () => {
  const shop = await openUnitShop([uom, warehouse, production])
  const { ask, made } = shop
  const builders = buildersOf(shop.app)
  const warehouseId = await made("/inventory/warehouses", { name: "Kitchen", code: `K-${randomUUID()}` })

  const restock = async (entityId: string, quantity: number, unitCost?: number) => {
    const body = { entityId, warehouseId, type: "restock", quantity, ...(unitCost !== undefined && { unitCost }) }
    assert.isBelow((await ask("POST", "/inventory/adjust", body)).status, 300)
  }
  /** A product of which so many are in stock, at a cost. */
  const thing = async (quantity = 0, unitCost?: number) => {
    const entityId = await builders.product({ stock: 0 })
    if (quantity > 0) await restock(entityId, quantity, unitCost)
    return entityId
  }
  const level = async (entityId: string) => {
    const found = await ask("GET", `/inventory/levels?entityId=${entityId}&warehouseId=${warehouseId}`)
    return { onHand: found.at("data.0.quantityOnHand") ?? 0, cost: found.at("data.0.averageCost") ?? null }
  }
  const post = (path: string, body?: unknown) => ask("POST", `/production${path}`, body)
  const bom = (entityId: string, all: ReadonlyArray<Ingredient>, more: object = {}) =>
    made("/production/boms", { entityId, name: "Recipe", items: lines(all), ...more })
  const order = (bomId: string, entityId: string, quantity: number) =>
    made("/production/orders", { bomId, entityId, quantity, warehouseId, plannedDate: "2026-12-01" })
  const started = async (bomId: string, entityId: string, quantity: number) => {
    const id = await order(bomId, entityId, quantity)
    assert.strictEqual((await post(`/orders/${id}/start`, { producedBy: "Ada" })).status, 201)
    return id
  }
  const explode = async (bomId: string, quantity: number) => {
    const { at } = await post(`/boms/${bomId}/explode`, { quantity })
    const rows = at("data")
    return (Array.isArray(rows) ? rows : []).map((
      row
    ) => [row.entityId, row.totalQuantity, row.unitCost, row.totalCost])
  }
  return {
    ...shop,
    builders,
    warehouseId,
    restock,
    thing,
    level,
    post,
    bom,
    order,
    started,
    explode,
    lines,
    things: (count: number) => Promise.all(Array.from({ length: count }, () => thing())),
    complete: (id: string, body?: object) => post(`/orders/${id}/complete`, body),
    sub: (subBomId: string, more: object = {}) => ({ subBomId, isSubAssembly: true, ...more })
  }
}

export type Kitchen = Awaited<ReturnType<typeof openKitchen>>
