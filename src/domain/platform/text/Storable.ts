import { Schema } from "effect"

/** PostgreSQL stores neither the character NUL nor half of a surrogate pair. */
const isStorable = (text: string): boolean => !text.includes("\0") && text.isWellFormed()

/** Message for text that cannot be stored. */
export const unstorable = "must be valid Unicode without NUL"

const storable = Schema.makeFilter((text: string) => isStorable(text) || unstorable)

/** A text of any length, empty included. */
export const FreeText = Schema.String.check(storable)

/** Sizes of texts in characters, of addresses on the web, and of what shoppers keep with their records in bytes. */
const maxShortLength = 255
const maxNameLength = 200
const maxRemarkLength = 10_000
const maxWordingLength = 100_000
const maxAddressLength = 2_048
export const shopperBytes = 16_384

/** A short text, or an id or code created elsewhere; can be empty. */
export const ShortText = FreeText.check(Schema.isMaxLength(maxShortLength))

/** The name of a person. */
export const PersonName = FreeText.check(Schema.isMaxLength(maxNameLength))

/** A free remark. */
export const Remark = FreeText.check(Schema.isMaxLength(maxRemarkLength))

/** Words of a catalog, as long as a chapter. */
export const Wording = FreeText.check(Schema.isMaxLength(maxWordingLength))

/** An address or another generated text: the absolute or relative URL of a page, or a token. */
export const Reference = FreeText.check(Schema.isMaxLength(maxAddressLength))

/** Checks a text against a pattern, which the API document shows as well. */
export const ofForm = (form: RegExp, expected?: string) =>
  Schema.isPattern(form, {
    ...(expected === undefined ? {} : { expected }),
    toJsonSchema: () => ({ pattern: form.source })
  })

/** The address of a picture. */
export const PictureUrl = Reference.check(ofForm(/^https?:\/\/\S+$/, "an http or https URL"))

/** A text that is looked up or indexed: never empty and never too long for an index entry. */
export const keyText = (maximum: number) => FreeText.check(Schema.isBetweenLength(1, maximum))

/** A text of 1 to 255 characters, as a name or a group id. */
export const Text = Schema.NonEmptyString.check(Schema.isMaxLength(255), storable)

/** A body of 1 MB can be nested a hundred thousand levels deep; the stacks that read it here and in PostgreSQL cannot. */
const maxDepth = 100

const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/**
 * Values from code are not always JSON: a date, a bigint or NaN would not round-trip. An undefined property counts as
 * absent, as in `JSON.stringify`.
 */
export const isStorableJson = (value: unknown, levels = maxDepth): boolean => {
  if (typeof value === "string") return isStorable(value)
  if (typeof value === "number") return Number.isFinite(value)
  if (typeof value === "boolean" || value === null) return true
  if (typeof value !== "object" || levels === 0) return false
  if (Array.isArray(value)) return Array.from(value).every((entry) => isStorableJson(entry, levels - 1))
  return isPlain(value) &&
    Object.entries(value).every(([key, entry]) =>
      isStorable(key) && (entry === undefined || isStorableJson(entry, levels - 1))
    )
}

/**
 * The path of text in a JSON value that cannot be stored; undefined if there is none. Levels deeper than anything
 * stored are not checked.
 */
export const unstorableAt = (value: unknown, levels = 2 * maxDepth): ReadonlyArray<string> | undefined => {
  if (typeof value === "string") return isStorable(value) ? undefined : []
  if (typeof value !== "object" || value === null || levels === 0) return undefined
  for (const [key, entry] of Object.entries(value)) {
    if (!isStorable(key)) return []
    const inside = unstorableAt(entry, levels - 1)
    if (inside !== undefined) return [key, ...inside]
  }
  return undefined
}

const storableJson = Schema.makeFilter(
  (value: unknown) =>
    isStorableJson(value) || `must be JSON of valid Unicode without NUL, at most ${maxDepth} levels deep`,
  undefined,
  // What is nested too deeply must reach no further check that would walk it.
  true
)

/** A free-form object that jsonb can hold; replaced completely, never merged. */
export const StorableObject = Schema.Record(Schema.String, Schema.Unknown).check(storableJson)

/** A free-form object of at most so many bytes of JSON. */
export const objectUpTo = (bytes: number) =>
  StorableObject.check(
    Schema.makeFilter(
      (value: object) =>
        new TextEncoder().encode(JSON.stringify(value)).length <= bytes || `must be at most ${bytes} bytes of JSON`,
      { maxBytes: bytes }
    )
  )

/** A free-form object from a shopper, limited because anyone can send one and every change copies it. */
export const ShopperObject = objectUpTo(shopperBytes)

/** Any JSON value, for example the document of a rich text editor. */
export const AnyJson = Schema.Unknown.check(storableJson)

/** Whether a value from code is an object that jsonb can hold. */
export const isStorableObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value) && isStorableJson(value)

/** The value of a JSON text; fails for any other text. */
export const readJson = Schema.decodeUnknownResult(Schema.fromJsonString(Schema.Unknown))
