import { Schema } from "effect"
import { Uuid } from "../ids/Id.ts"
import { Time } from "../pricing/Bounds.ts"
import { AnyJson, Wording } from "../text/Storable.ts"
import { Locale } from "./FieldText.ts"

const text = Schema.NullOr(Schema.String)

/** Shoppers see approved attributes only; a draft shows them as they will be once it is approved. */
export const ApprovalStatus = Schema.Literals(["approved", "draft"])
export type ApprovalStatus = typeof ApprovalStatus.Type

/** The texts of an entity in one locale (spec §2, contract §1.1). */
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
  status: ApprovalStatus
}).annotate({ identifier: "EntityAttributes" })
export type Attributes = typeof Attributes.Type

const optionalText = Schema.optional(Schema.NullOr(Wording))

const wording = {
  subtitle: optionalText,
  description: optionalText,
  richDescription: Schema.optional(AnyJson),
  seoTitle: optionalText,
  seoDescription: optionalText,
  /** Whether shoppers see them at once; the store decides when absent (docs/catalog.md). */
  status: Schema.optional(ApprovalStatus)
}

/** Attributes of a new entity; `locale` defaults to `en`. */
export const NewAttributes = Schema.Struct({ locale: Schema.optional(Locale), title: Wording, ...wording })
export type NewAttributes = typeof NewAttributes.Type

/** Body of PUT attributes: absent keys keep their value, null clears. The first write of a locale needs a title. */
export const AttributesChange = Schema.Struct({ title: Schema.optional(Wording), ...wording })
export type AttributesChange = typeof AttributesChange.Type

/** A draft of the attributes of a locale that waits for approval: the changed fields and who proposed them. */
export const AttributesDraft = Schema.Struct({
  entityId: Uuid,
  slug: Schema.String,
  locale: Schema.String,
  changes: Schema.Record(Schema.String, Schema.Unknown),
  proposedBy: Schema.NullOr(Schema.String),
  proposedAt: Time
}).annotate({ identifier: "EntityAttributesDraft" })
export type AttributesDraft = typeof AttributesDraft.Type
