import type { FieldDefinition, FieldKind, FieldRules } from "./FieldDefinition.ts"

/** A row of `entity_field_definitions`. */
export interface FieldDefinitionRow {
  readonly id: string
  readonly organization_id: string
  readonly entity_type: string
  readonly name: string
  readonly label: string
  readonly kind: FieldKind
  readonly is_required: boolean
  readonly is_unique: boolean
  readonly is_filterable: boolean
  readonly is_public: boolean
  readonly rules: FieldRules
  readonly default_value: unknown
  readonly sort_order: number
  readonly status: FieldDefinition["status"]
  readonly created_at: Date
  readonly updated_at: Date
}

export const toDefinition = (row: FieldDefinitionRow): FieldDefinition => ({
  id: row.id,
  organizationId: row.organization_id,
  entityType: row.entity_type,
  name: row.name,
  label: row.label,
  kind: row.kind,
  isRequired: row.is_required,
  isUnique: row.is_unique,
  isFilterable: row.is_filterable,
  isPublic: row.is_public,
  rules: row.rules,
  defaultValue: row.default_value,
  sortOrder: row.sort_order,
  status: row.status,
  createdAt: row.created_at,
  updatedAt: row.updated_at
})
