import { Schema } from "effect"
import { Entity } from "effect/cluster"
import { Rpc } from "effect/rpc"
import { Uuid } from "../domain/ids/Id.ts"
import { maxUnits } from "../domain/inventory/StockRules.ts"

/** Too little stock over all active warehouses for one sellable of the checkout; nothing was taken. Units. */
export class StockShort extends Schema.TaggedError<StockShort>()("StockShort", {
  sellableId: Schema.String,
  title: Schema.String,
  available: Schema.Int,
  requested: Schema.Int
}) {}

/** The holder's hold was released or has expired: what comes in his name now was overtaken by that. */
export class HoldGone extends Schema.TaggedError<HoldGone>()("HoldGone", { holder: Schema.String }) {}

/**
 * What a checkout got: `pricing` is the one its holder wrote first, whatever was sent with a repeat (the same JSON
 * value; the text may differ in spaces and in the order of keys). `fresh` tells the first time from a repeat.
 */
export const Reserved = Schema.TaggedStruct("Reserved", { pricing: Schema.String, fresh: Schema.Boolean })
/** See the schema of the same name. */
export type Reserved = typeof Reserved.Type

/**
 * A checkout asks for stock: `holder` is its id, a line's `sellableId` the variant, else the entity, `quantity` units.
 * The stock stays held for `ttlSeconds`; `pricing` is JSON text pinned with it; past `deadline` (epoch ms) the request
 * is dropped.
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
/** See the schema of the same name. */
export type ReserveStock = typeof ReserveStock.Type

/**
 * The stock desk of an organization (its id is the entity id): everybody who wants stock of its sellables comes here.
 * The call is volatile: repeat it with the same holder after a time-out, and release the holder when the checkout
 * fails for whatever reason (contract 3.6).
 */
export const StockEntity = Entity.make("StockEntity", [
  Rpc.make("reserve", { payload: ReserveStock, success: Reserved, error: Schema.Union([StockShort, HoldGone]) })
])
