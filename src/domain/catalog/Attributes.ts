import { Schema } from "effect"
import { Uuid } from "../ids/Id.ts"
import { AnyJson, Wording } from "../text/Storable.ts"
import { Locale } from "./FieldText.ts"

const text = Schema.NullOr(Schema.String)

/** Shoppers see approved words only; a draft is what they would be once it is approved. */
export const WordsState = Schema.Literals(["approved", "draft"])
export type WordsState = typeof WordsState.Type

/** The words of an entity in one locale (spec §2, contract §1.1). */
export const Attributes = Schema.Struct({
  id: Uuid,
  entityId: Uuid,
  locale: Schema.String,
  title: Schema.String,
  subtitle: text,
  description: text,
  richDescription: Schema.Unknown,
  seoTitle: text,
  seoDescription: text,
  status: WordsState
}).annotate({ identifier: "EntityAttributes" })
export type Attributes = typeof Attributes.Type

const optionalText = Schema.optional(Schema.NullOr(Wording))

const wording = {
  subtitle: optionalText,
  description: optionalText,
  richDescription: Schema.optional(AnyJson),
  seoTitle: optionalText,
  seoDescription: optionalText,
  /** Whether shoppers are to see them at once; absent: as the store has it (docs/catalog.md). */
  status: Schema.optional(WordsState)
}

/** Words given together with a new entity; `locale` is `en` when absent. */
export const NewAttributes = Schema.Struct({ locale: Schema.optional(Locale), title: Wording, ...wording })
export type NewAttributes = typeof NewAttributes.Type

/**
 * Body of PUT attributes: absent keys keep their value, null clears. `title` is required the first time a locale is
 * written (contract §1.2).
 */
export const AttributesChange = Schema.Struct({ title: Schema.optional(Wording), ...wording })
export type AttributesChange = typeof AttributesChange.Type
