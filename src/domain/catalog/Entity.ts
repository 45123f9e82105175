import { Schema, SchemaGetter } from "effect"
import { invalid, notFound } from "../platform/errors/ErrorKinds.ts"
import { about } from "../platform/hints/Hints.ts"
import { EntityId, OrganizationId, TaxClassId, Uuid } from "../platform/ids/Id.ts"
import { AnyJson, keyText, Metadata, StorableObject, Wording } from "../platform/text/Storable.ts"
import { Time } from "../platform/text/Time.ts"
import { stockPolicy, stockPolicyInput } from "./StockPolicy.ts"

export class EntityNotFound extends notFound("CatalogEntity", "Catalog entity not found.") {}

const isAddress = Schema.makeFilter(
  (slug: string) =>
    !/^\.{1,2}$|\p{Cc}/u.test(slug) || "must be part of an address: neither . nor .., and without tabs or line ends."
)

/** Without blanks at its ends, and composed (NFC): two that look the same are the same. */
export const Slug = keyText(255).pipe(
  Schema.decodeTo(keyText(255).check(isAddress), {
    decode: SchemaGetter.transform((slug) => slug.trim().normalize("NFC")),
    encode: SchemaGetter.passthrough()
  })
)

export const Locale = keyText(64)

export const SortOrder = Schema.Int.check(Schema.isInt32())

/** Any status may follow any other (spec §3). Shoppers see `active` and visible entities only. */
export const EntityStatus = Schema.Literals(["draft", "active", "archived", "discontinued"]).annotate({
  description:
    "Shoppers see only an active entity that is visible. A discontinued one is no longer made, an archived one is put away."
})
export type EntityStatus = typeof EntityStatus.Type

/** The class by id; `taxClass` shows its slug. */
export const ShownTaxClassId = Schema.NullOr(TaxClassId).annotate({
  description:
    "Id of the tax class; a new name of the class does not change it. Null: the class of the entity, else the default class."
})

/** An item of the catalog (spec §2, contract §1.1). `type` is free text. */
export const CatalogEntity = Schema.Struct({
  id: EntityId,
  organizationId: OrganizationId,
  sourceStoreId: Schema.NullOr(Schema.String).pipe(about("Connected store it comes from.")),
  type: Schema.String.pipe(about("Free word for the kind of goods, such as product, service or digital.")),
  slug: Schema.String,
  status: EntityStatus,
  isVisible: Schema.Boolean.pipe(about("Shoppers see it when it is active.")),
  taxClass: Schema.NullOr(Schema.String).pipe(about("Code of its tax class.")),
  taxClassId: ShownTaxClassId,
  ...stockPolicy,
  metadata: Metadata,
  createdAt: Time,
  updatedAt: Time,
  publishedAt: Schema.NullOr(Time)
}).annotate({ identifier: "CatalogEntity" })
export type CatalogEntity = typeof CatalogEntity.Type

export const ApprovalStatus = Schema.Literals(["approved", "draft"]).annotate({
  description: "Shoppers see approved texts. A draft waits for approval."
})
export type ApprovalStatus = typeof ApprovalStatus.Type

const text = Schema.NullOr(Schema.String)

/** The texts of an entity in one locale (spec §2, contract §1.1). */
export const Attributes = Schema.Struct({
  id: Uuid,
  entityId: EntityId,
  locale: Schema.String,
  title: Schema.String,
  subtitle: text,
  description: text,
  richDescription: Schema.Unknown.pipe(about("Formatted text as the JSON of an editor; the service only stores it.")),
  seoTitle: text.pipe(about("Title for search engines; null: the title.")),
  seoDescription: text.pipe(about("Description for search engines; null: the description.")),
  status: ApprovalStatus
}).annotate({ identifier: "EntityAttributes" })
export type Attributes = typeof Attributes.Type

const optionalText = Schema.optional(Schema.NullOr(Wording))

const wording = {
  subtitle: optionalText,
  description: optionalText,
  richDescription: Schema.optional(AnyJson).pipe(
    about("Formatted text as the JSON of an editor; the service only stores it.")
  ),
  seoTitle: optionalText.pipe(about("Title for search engines; null: the title.")),
  seoDescription: optionalText.pipe(about("Description for search engines; null: the description.")),
  status: Schema.optional(ApprovalStatus).pipe(
    about("Drafts wait for approval. Absent: the setting of the store decides.")
  )
}

export const NewAttributes = Schema.Struct({ locale: Schema.optional(Locale), title: Wording, ...wording })
export type NewAttributes = typeof NewAttributes.Type

/** Absent keys keep their value, null clears. The first write of a locale needs a title. */
export const AttributesChange = Schema.Struct({ title: Schema.optional(Wording), ...wording })
export type AttributesChange = typeof AttributesChange.Type

export const AttributesDraft = Schema.Struct({
  entityId: EntityId,
  slug: Schema.String,
  locale: Schema.String,
  changes: Schema.Record(Schema.String, Schema.Unknown).pipe(
    about("Proposed texts by field, as the approval writes them.")
  ),
  proposedBy: Schema.NullOr(Schema.String).pipe(
    about("Id of the user or API key that proposed the texts; null: the system.")
  ),
  proposedAt: Time
}).annotate({ identifier: "EntityAttributesDraft" })
export type AttributesDraft = typeof AttributesDraft.Type

const CustomFields = Schema.optional(StorableObject).pipe(
  about("Values by the names of field definitions; null clears one.")
)

export const EntityType = keyText(100).annotate({
  description: "Free word for the kind of goods, such as product, service or digital.",
  examples: ["product"]
})
export const TaxClass = keyText(100).annotate({
  description: "A tax class of the store: its id or its slug, in any case.",
  examples: ["reduced"]
})

/** Null: no class. */
export const taxClassInput = {
  taxClass: Schema.optional(Schema.NullOr(TaxClass)).pipe(about("Code of its tax class.")),
  taxClassId: Schema.optional(Schema.NullOr(TaxClass.annotate({
    description: "The same. It wins over taxClass, unless it is the class that the goods have already."
  })))
}

interface TaxClassInput {
  readonly taxClass?: string | null | undefined
  readonly taxClassId?: string | null | undefined
}

/** The class that an input names; undefined: it names none. */
export const namedTaxClass = ({ taxClass, taxClassId }: TaxClassInput): string | null | undefined =>
  taxClassId === undefined ? taxClass : taxClassId

export class TaxClassUnknown extends invalid(
  "TaxClass",
  (field: string, _name: string) => field,
  (_field: string, name: string) => `'${name}' is no tax class of this store. Send the id or the slug of a tax class.`,
  "not_found"
) {}

/** Refusals of a statement that names a tax class (`tax_class_named`), or whose class is deleted meanwhile. */
export const taxClassRefusals = ({ taxClass, taxClassId }: TaxClassInput) => {
  const refusals = Object.entries({ taxClass, taxClassId }).flatMap(([field, name]) =>
    typeof name === "string" ? [[`tax class ${name}`, () => new TaxClassUnknown(field, name)] as const] : []
  )
  const gone = refusals.at(-1)?.[1] ?? (() => new TaxClassUnknown("taxClass", ""))
  return { ...Object.fromEntries(refusals), catalog_entities_tax_class: gone, variants_tax_class: gone }
}

/** `status` defaults to `draft`; an `active` entity is visible and published at once. */
export const NewEntity = Schema.Struct({
  type: EntityType,
  slug: Slug,
  status: Schema.optional(EntityStatus),
  metadata: Schema.optional(StorableObject),
  ...taxClassInput,
  /** Default of `manageInventory`: as its type (`catalog.types`). */
  ...stockPolicyInput,
  attributes: Schema.optional(NewAttributes).pipe(about("Texts in the first locale.")),
  customFields: CustomFields
})
export type NewEntity = typeof NewEntity.Type

/** An entity that a plugin creates; `sourceStoreId` is the store elsewhere that it comes from. */
export interface SourcedEntity extends NewEntity {
  readonly sourceStoreId?: string | undefined
}

/**
 * Absent keys keep their value, also within `customFields`. Null clears a custom field or the tax class. `metadata`
 * replaces the object.
 */
export const EntityChange = Schema.Struct({
  slug: Schema.optional(Slug),
  status: Schema.optional(EntityStatus),
  metadata: Schema.optional(StorableObject),
  isVisible: Schema.optional(Schema.Boolean).pipe(about("Shoppers see it when it is active.")),
  ...taxClassInput,
  ...stockPolicyInput,
  customFields: CustomFields
})
export type EntityChange = typeof EntityChange.Type
