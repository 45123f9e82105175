import { Schema } from "effect"

/** PostgreSQL stores neither the character NUL nor half of a surrogate pair. */
const isStorable = (text: string): boolean => !text.includes("\0") && text.isWellFormed()

const storable = Schema.makeFilter((text: string) => isStorable(text) || "must be valid Unicode without NUL")

/** A text of any length, empty included. */
export const FreeText = Schema.String.check(storable)

/** A text of 1 to 255 characters, as a name or a group id. */
export const Text = Schema.NonEmptyString.check(Schema.isMaxLength(255), storable)

const isStorableJson = (value: unknown): boolean =>
  typeof value === "string"
    ? isStorable(value)
    : typeof value !== "object" || value === null ||
      Object.entries(value).every(([key, entry]) => isStorable(key) && isStorableJson(entry))

/** A free-form object that jsonb can hold. */
export const StorableObject = Schema.Record(Schema.String, Schema.Unknown).check(
  Schema.makeFilter((value) => isStorableJson(value) || "must hold valid Unicode without NUL")
)
