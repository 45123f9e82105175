import { Schema } from "effect"
import { Uuid } from "../../ids/Id.ts"
import { keyText } from "../../text/Storable.ts"

/** One choice of an option type, for example `red` (contract §1.1); `displayValue` starts as the value. */
export const OptionValue = Schema.Struct({
  id: Uuid,
  optionTypeId: Uuid,
  value: Schema.String,
  displayValue: Schema.String,
  sortOrder: Schema.Int,
  metadata: Schema.Record(Schema.String, Schema.Unknown)
}).annotate({ identifier: "OptionValue" })
export type OptionValue = typeof OptionValue.Type

/** An axis along which an entity varies, for example `color`; `displayName` starts as the name. */
export const OptionType = Schema.Struct({
  id: Uuid,
  entityId: Uuid,
  name: Schema.String,
  displayName: Schema.String,
  sortOrder: Schema.Int
}).annotate({ identifier: "OptionType" })
export type OptionType = typeof OptionType.Type

const Label = keyText(255)

/** Body of a new option type, with its first values in their order. */
export const NewOptionType = Schema.Struct({
  name: Label,
  values: Schema.optional(Schema.Array(Label).check(Schema.isMaxLength(1000)))
})
export type NewOptionType = typeof NewOptionType.Type

/** Body of a new option value. */
export const NewOptionValue = Schema.Struct({ value: Label })
export type NewOptionValue = typeof NewOptionValue.Type
