import { Result, Schema } from "effect"
import { ValidationFailed } from "../errors/ApiErrors.ts"
import { Uuid } from "../ids/Id.ts"
import { FreeText } from "../text/Storable.ts"
import { levelSettings } from "./StockLevel.ts"
import { type Adjustment, AdjustmentMode, AdjustmentType } from "./StockRules.ts"

const ShortText = FreeText.check(Schema.isMaxLength(255))

/**
 * Body of an adjustment, in one of three forms (spec 4, contract 6): `type` with `quantity`; `adjustment`, signed; or
 * `mode` with `amount`. Without a warehouse it is the active one with the lowest priority number. Units.
 */
export const AdjustStock = Schema.Struct({
  entityId: Uuid,
  variantId: Schema.optional(Schema.NullOr(Uuid)),
  warehouseId: Schema.optional(Schema.NullOr(Uuid)),
  type: Schema.optional(AdjustmentType),
  quantity: Schema.optional(Schema.Int),
  adjustment: Schema.optional(Schema.Int),
  mode: Schema.optional(AdjustmentMode),
  amount: Schema.optional(Schema.Int),
  reason: Schema.optional(Schema.NullOr(FreeText.check(Schema.isMaxLength(2000)))),
  performedBy: Schema.optional(Schema.NullOr(ShortText)),
  referenceType: Schema.optional(Schema.NullOr(ShortText)),
  referenceId: Schema.optional(Schema.NullOr(ShortText)),
  ...levelSettings
}).annotate({ identifier: "InventoryAdjustment" })
/** See the schema of the same name. */
export type AdjustStock = typeof AdjustStock.Type

/** Which of the forms a body has; none, or parts of two, is refused. */
export const adjustmentOf = (body: AdjustStock): Result.Result<Adjustment, ValidationFailed> => {
  const { adjustment, amount, mode, quantity, type } = body
  const forms = [type ?? quantity, adjustment, mode ?? amount].filter((form) => form !== undefined)
  if (forms.length > 1) {
    return Result.fail(ValidationFailed.of("", "give one of type with quantity, adjustment, or mode with amount"))
  }
  if (type !== undefined && quantity !== undefined) return Result.succeed({ type, quantity })
  if (mode !== undefined && amount !== undefined) return Result.succeed({ mode, amount })
  if (adjustment === 0) return Result.fail(ValidationFailed.of("adjustment", "must be a whole number other than 0"))
  if (adjustment !== undefined) return Result.succeed({ adjustment })
  const missing = type !== undefined
    ? "quantity"
    : mode !== undefined
    ? "amount"
    : amount !== undefined
    ? "mode"
    : "type"
  return Result.fail(ValidationFailed.of(missing, "is missing", "required"))
}
