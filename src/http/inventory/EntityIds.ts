import { Schema, SchemaGetter } from "effect"
import { Uuid } from "../../domain/ids/Id.ts"

/** Most entities one check may ask about. */
const most = 100

const split = (text: string): ReadonlyArray<string> => [
  ...new Set(text.split(",").map((id) => id.trim()).filter((id) => id !== ""))
]

/** `entityIds` of a stock check: UUIDs separated by commas, at most 100 different ones, none at all allowed. */
export const EntityIds = Schema.String.annotate({ description: "UUIDs separated by commas, at most 100." }).pipe(
  Schema.decodeTo(Schema.Array(Uuid).check(Schema.isMaxLength(most)), {
    decode: SchemaGetter.transform(split),
    encode: SchemaGetter.transform((ids) => ids.join(","))
  })
)
