import { Schema } from "effect"
import { Text } from "stoa/plugin"

/** What still has to be true of a record when a message about it is sent: `{ status: ["confirmed", "provisional"] }`. */
export const SendWhile = Schema.Record(
  Text.check(Schema.isPattern(/^\w+(\.\w+)*$/)),
  Schema.Array(Schema.Union([Schema.String, Schema.Finite, Schema.Boolean, Schema.Null])).check(
    Schema.isMinLength(1),
    Schema.isMaxLength(50)
  )
)
export type SendWhile = typeof SendWhile.Type
