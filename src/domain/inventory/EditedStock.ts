import { Context, Layer } from "effect"
import { OrderHoldRepo } from "./OrderHoldRepo.ts"

/**
 * Stock of an order whose lines are edited, for the module that edits them. Called inside the caller's transaction it
 * joins it, so that an order and what it holds change together or not at all.
 */
export class EditedStock extends Context.Service<EditedStock, OrderHoldRepo["Service"]>()(
  "stoa/domain/inventory/EditedStock"
) {
  static readonly layer = Layer.effect(EditedStock, OrderHoldRepo)
}
