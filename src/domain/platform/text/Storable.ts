import { Schema } from "effect"

/** PostgreSQL stores neither NUL nor half of a surrogate pair. */
const isStorable = (text: string): boolean => !text.includes("\0") && text.isWellFormed()

export const unstorable = "must be valid Unicode without NUL."

/** Annotations of a check that JSON Schema cannot say; without them the document loses what is said of its schema. */
export const unsaid = { toJsonSchema: () => [{}, true] as const }

const storable = Schema.makeFilter((text: string) => isStorable(text) || unstorable, { ...unsaid, code: "format" })

export const FreeText = Schema.String.check(storable)

const maxShortLength = 255
const maxNameLength = 200
const maxRemarkLength = 10_000
const maxWordingLength = 100_000
const maxAddressLength = 2_048
export const shopperBytes = 16_384

/** A short text, or an outside id or code; can be empty. */
export const ShortText = FreeText.check(Schema.isMaxLength(maxShortLength))

export const PersonName = FreeText.check(Schema.isMaxLength(maxNameLength))

export const Remark = FreeText.check(Schema.isMaxLength(maxRemarkLength))

export const Wording = FreeText.check(Schema.isMaxLength(maxWordingLength))

export const Reference = FreeText.check(Schema.isMaxLength(maxAddressLength))

/** `expected` says the form in words: "a price, such as 12.50". */
export const ofForm = (form: RegExp, expected: string) =>
  Schema.isPattern(form, {
    expected,
    toJsonSchema: () => ({ pattern: form.source })
  })

export const PictureUrl = Reference.check(ofForm(/^https?:\/\/\S+$/, "an address that begins with http or https"))

/** A text to look up or index: never empty, never too long for an index entry. */
export const keyText = (maximum: number) => FreeText.check(Schema.isBetweenLength(1, maximum))

export const Text = Schema.NonEmptyString.check(Schema.isMaxLength(255), storable)

/** A body of 1 MB can nest a hundred thousand levels; the stacks here and in PostgreSQL cannot. */
const maxDepth = 100

const isPlain = (value: object): boolean => {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** Values from code may be no JSON: a date, a bigint, NaN. An undefined property counts as absent. */
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

/** Path of a text that cannot be stored; undefined if none. Does not check levels deeper than anything stored. */
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
    isStorableJson(value) || `must be JSON of valid Unicode without NUL, at most ${maxDepth} levels deep.`,
  unsaid,
  true
)

/** Stored in jsonb; replaced, never merged. */
export const StorableObject = Schema.Record(Schema.String, Schema.Unknown).check(storableJson)
  .annotate({ description: "Fields of your own: any JSON object." })

/** The same as it is shown. */
export const Metadata = Schema.Record(Schema.String, Schema.Unknown).annotate({ description: "Fields of your own." })

/** Limits the size of a value as JSON. */
export const upToBytes = (bytes: number) =>
  Schema.makeFilter(
    (value: unknown) =>
      new TextEncoder().encode(JSON.stringify(value)).length <= bytes || `must be at most ${bytes} bytes of JSON.`,
    { ...unsaid, maxBytes: bytes, code: "too_long" }
  )

const maxKeys = 100

const fewKeys = Schema.makeFilter(
  (value: object) => Object.keys(value).length <= maxKeys || `must have at most ${maxKeys} keys.`,
  { ...unsaid, code: "too_many" }
)

export const objectUpTo = (bytes: number) => StorableObject.check(upToBytes(bytes))

/** An object of shoppers beside the fields of a record, such as metadata: small, because every change copies it. */
export const shopperObject = (bytes: number) => objectUpTo(bytes).check(fewKeys)

export const ShopperObject = shopperObject(shopperBytes)

export const AnyJson = Schema.Unknown.check(storableJson)

export const isStorableObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value) && isStorableJson(value)

export const readJson = Schema.decodeUnknownResult(Schema.fromJsonString(Schema.Unknown))
