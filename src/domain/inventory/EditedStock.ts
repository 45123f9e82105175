import { Context, Layer } from "effect"
import { OrderHoldRepo } from "./OrderHoldRepo.ts"

/**
 * Stock operations for edits of an order's lines. They join the caller's transaction, so that an order and its
 * allocations change together or not at all.
 */
export class EditedStock extends Context.Service<EditedStock, OrderHoldRepo["Service"]>()(
  "stoa/domain/inventory/EditedStock"
) {
  static readonly layer = Layer.effect(EditedStock, OrderHoldRepo)
}
