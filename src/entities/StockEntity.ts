import { Schema } from "effect"
import { Entity } from "effect/cluster"
import { Rpc } from "effect/rpc"
import { Uuid } from "../domain/ids/Id.ts"
import { maxUnits } from "../domain/inventory/StockRules.ts"

/** One sellable has too little stock over all active warehouses; nothing was reserved. Units. */
export class StockShort extends Schema.TaggedError<StockShort>()("StockShort", {
  sellableId: Schema.String,
  title: Schema.String,
  available: Schema.Int,
  requested: Schema.Int
}) {}

/** The holder's hold was released or has expired. */
export class HoldGone extends Schema.TaggedError<HoldGone>()("HoldGone", { holder: Schema.String }) {}

/**
 * A reservation. `pricing` is the JSON value that its holder stored first, perhaps with other spaces or key order.
 * `fresh` is false for a repeat.
 */
export const Reserved = Schema.TaggedStruct("Reserved", { pricing: Schema.String, fresh: Schema.Boolean })
export type Reserved = typeof Reserved.Type

/**
 * A reservation request. `holder` is the checkout id, `sellableId` the variant, else the entity, `quantity` in units. The
 * stock is held for `ttlSeconds` and `pricing` (JSON text) is stored with it. Past `deadline` (epoch ms) it is dropped.
 */
export const ReserveStock = Schema.Struct({
  holder: Schema.String,
  lines: Schema.Array(Schema.Struct({
    sellableId: Uuid,
    entityId: Uuid,
    quantity: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: maxUnits })),
    title: Schema.String
  })),
  ttlSeconds: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 31_536_000 })),
  pricing: Schema.String,
  deadline: Schema.Int
})
export type ReserveStock = typeof ReserveStock.Type

/**
 * The stock entity of an organization, whose id is the entity id. The call is volatile: repeat it with the same holder
 * after a time-out, and release the holder when the checkout fails (contract 3.6).
 */
export const StockEntity = Entity.make("StockEntity", [
  Rpc.make("reserve", { payload: ReserveStock, success: Reserved, error: Schema.Union([StockShort, HoldGone]) })
])
