import { Schema } from "effect"

/** The value of a JSON text; fails for any other text. */
export const readJson = Schema.decodeUnknownResult(Schema.fromJsonString(Schema.Unknown))
