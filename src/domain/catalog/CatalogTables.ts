import { Schema, Struct } from "effect"
import { BrandId, CategoryId, EntityId, FieldDefinitionId, OptionValueId, Uuid, VariantId } from "../platform/ids/Id.ts"
import { Table } from "../platform/records/Table.ts"
import { Time } from "../platform/text/Time.ts"
import { Category } from "./categories/Category.ts"
import { Attributes, AttributesDraft } from "./Entity.ts"
import { PublishingSchedule } from "./schedules/Schedule.ts"
import { stockPolicyFields } from "./StockPolicy.ts"
import { OptionType, OptionValue, Variant } from "./variants/Variant.ts"

const organizationId = Schema.String

export const storedCategories = new Table("categories", Schema.Struct({ ...Category.fields, organizationId }), {
  unset: ["status"]
})

export const storedOptionTypes = new Table("option_types", Schema.Struct({ ...OptionType.fields, organizationId }))

export const storedOptionValues = new Table("option_values", Schema.Struct({ ...OptionValue.fields, organizationId }), {
  unset: ["metadata"]
})

/** `combination` is the key of the option values, `uniqueSku` the SKU where no other variant may have it. */
const StoredVariant = Schema.Struct({
  ...Struct.omit(Variant.fields, ["optionValueIds"]),
  combination: Schema.String,
  uniqueSku: Schema.NullOr(Schema.String)
})

export const variants = new Table("variants", StoredVariant, {
  unset: [
    "sourceStoreId",
    "sku",
    "uniqueSku",
    "barcode",
    "taxClass",
    "taxClassId",
    ...stockPolicyFields,
    "status",
    "metadata"
  ]
})

const VariantOption = Schema.Struct({ organizationId, variantId: VariantId, optionValueId: OptionValueId })

export const variantOptions = new Table("variant_option_values", VariantOption)

const StoredAttributes = Schema.Struct({ ...Struct.omit(Attributes.fields, ["status"]), organizationId })

export const attributes = new Table("entity_attributes", StoredAttributes)

const StoredDraft = Schema.Struct({ ...Struct.omit(AttributesDraft.fields, ["slug"]), id: Uuid, organizationId })

export const attributeDrafts = new Table("entity_attribute_drafts", StoredDraft, { unset: ["proposedAt"] })

const StoredSchedule = Schema.Struct({ ...PublishingSchedule.fields, organizationId, updatedAt: Time })

export const entitySchedules = new Table("entity_schedules", StoredSchedule, { unset: ["refusal", "updatedAt"] })

const CategoryLink = Schema.Struct({
  organizationId,
  entityId: EntityId,
  categoryId: CategoryId,
  sortOrder: Schema.Int
})

export const categoryLinks = new Table("entity_categories", CategoryLink, { unset: ["sortOrder"] })

const BrandLink = Schema.Struct({ organizationId, entityId: EntityId, brandId: BrandId, sortOrder: Schema.Int })

export const brandLinks = new Table("entity_brands", BrandLink, { unset: ["sortOrder"] })

const FieldValue = Schema.Struct({
  organizationId,
  entityId: EntityId,
  definitionId: FieldDefinitionId,
  value: Schema.Unknown,
  uniqueKey: Schema.NullOr(Schema.String),
  referenceId: Schema.NullOr(EntityId)
})

export const fieldValues = new Table("entity_field_values", FieldValue)
