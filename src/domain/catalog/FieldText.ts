import { Schema } from "effect"

/** The database stores any character but U+0000, which is refused here so that it is the client's error and not ours. */
const storable = Schema.makeFilter((text: string) => !text.includes("\u0000"), { expected: "text without U+0000" })

/** Text of any length, empty included: descriptions, titles. */
export const FreeText = Schema.String.check(storable)

/** Text that is looked up by or indexed, so never empty and never too long for an index entry. */
export const keyText = (maximum: number) => Schema.String.check(Schema.isBetweenLength(1, maximum), storable)

/** The address of a record within its organization, chosen by the client; unique per kind of record. */
export const Slug = keyText(255)

/** A locale as the client writes it, for example `en` or `de-CH` (spec §2: a path segment). */
export const Locale = keyText(64)

/** Position among siblings, smallest first. */
export const SortOrder = Schema.Int.check(Schema.isInt32())

const isStorableJson = (value: unknown): boolean => {
  const text = JSON.stringify(value) ?? ""
  return !text.includes("\\u0000") && !/\\ud[89a-f]/.test(text)
}

const storableJson = Schema.makeFilter((value: unknown) => isStorableJson(value), {
  expected: "JSON without U+0000 and lone surrogates"
})

/** Free-form object of a record; written as a whole, never merged. */
export const Metadata = Schema.Record(Schema.String, Schema.Unknown).check(storableJson)

/** Any JSON value, for example the document of a rich text editor. */
export const AnyJson = Schema.Unknown.check(storableJson)
