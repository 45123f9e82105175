import { Schema } from "effect"
import { Text } from "stoa/plugin"

/** Values that fields of a record must still have when a message about it is sent: `{ status: ["confirmed"] }`. */
export const SendWhile = Schema.Record(
  Text.check(Schema.isPattern(/^\w+(\.\w+)*$/, { expected: "the path of a field, such as order.status" })),
  Schema.Array(Schema.Union([Schema.String, Schema.Finite, Schema.Boolean, Schema.Null])).check(
    Schema.isMinLength(1),
    Schema.isMaxLength(50)
  )
)
export type SendWhile = typeof SendWhile.Type
