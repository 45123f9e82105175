import { assert } from "@effect/vitest"
import { randomUUID } from "node:crypto"
import { buildersOf } from "stoa/plugin/testing"
import { callsOf } from "../../../../test/support/PluginCalls.ts"
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
  const { entity, made } = shop
  const { ask, done, refused } = callsOf(shop.app, "/production")
  const builders = buildersOf(shop.app)
  const warehouseId = await made("/inventory/warehouses", { name: "Kitchen", code: `K-${randomUUID()}` })

  const restock = async (entityId: string, quantity: number, unitCost?: number) => {
    const body = { entityId, warehouseId, type: "restock", quantity, ...(unitCost !== undefined && { unitCost }) }
    assert.isBelow((await ask("POST", "/inventory/adjust", body)).status, 300)
  }
  /** Entities that no other test has: as many as are asked for, of four. */
  const entities = () => Promise.all([entity(), entity(), entity(), entity()])
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
  const onHand = async (...entities: ReadonlyArray<string>) =>
    (await Promise.all(entities.map(level))).map((found) => found.onHand)
  const post = (path: string, body?: unknown) => ask("POST", `/production${path}`, body)
  const bom = (entityId: string, all: ReadonlyArray<Ingredient>, more: object = {}) =>
    made("/production/boms", { entityId, name: "Recipe", items: lines(all), ...more })
  const plan = (bomId: string, entityId: string, quantity: number) => ({
    bomId,
    entityId,
    quantity,
    warehouseId,
    plannedDate: "2026-12-01"
  })
  const order = (...planned: Parameters<typeof plan>) => made("/production/orders", plan(...planned))
  const started = async (bomId: string, entityId: string, quantity: number) => {
    const id = await order(bomId, entityId, quantity)
    await done("POST", `/orders/${id}/start`, { producedBy: "Ada" })
    return id
  }
  const explode = async (bomId: string, quantity: number) => {
    const rows = (await done("POST", `/boms/${bomId}/explode`, { quantity })).list("data").map(Object)
    return rows.map((row) => [row.entityId, row.totalQuantity, row.unitCost, row.totalCost])
  }
  return {
    ...shop,
    done,
    refused,
    builders,
    entities,
    warehouseId,
    restock,
    thing,
    level,
    onHand,
    post,
    bom,
    plan,
    order,
    started,
    explode,
    lines,
    complete: (id: string, body?: object) => post(`/orders/${id}/complete`, body),
    sub: (subBomId: string, more: object = {}) => ({ subBomId, isSubAssembly: true, ...more })
  }
}

export type Kitchen = Awaited<ReturnType<typeof openKitchen>>
