import { Schema } from "effect"
import { HttpApiEndpoint } from "effect/http-api"
import {
  FieldDefinition,
  FieldDefinitionChange,
  NewFieldDefinition
} from "../../domain/catalog/fields/FieldDefinition.ts"
import { asFlag } from "../../domain/platform/hints/Hints.ts"
import { FieldDefinitionId } from "../../domain/platform/ids/Id.ts"
import { pageQuery } from "../../domain/platform/paging/Paging.ts"
import { FreeText } from "../../domain/platform/text/Storable.ts"
import { Created, described, guarded } from "../endpoint/Resource.ts"
import { Data, Page } from "../envelope/Envelope.ts"

const field = { id: FieldDefinitionId }
const path = "/api/admin/entity-field-definitions"

const listQuery = {
  ...pageQuery,
  entityType: Schema.optional(FreeText.annotate({ description: "Fields of entities of this type." })),
  includeArchived: Schema.optional(Schema.String.annotate({ description: "true: archived fields too.", ...asFlag }))
}

const setStatus = <const Name extends "archive" | "restore">(name: Name, summary: string) =>
  HttpApiEndpoint.post(name, `${path}/:id/${name}`, { params: field, success: Data(FieldDefinition) })
    .annotateMerge(described(summary, "catalog:update"))

/** Custom fields by type of entity (contract §1.3, docs/catalog.md). */
export const FieldDefinitionsGroup = guarded(
  "fieldDefinitions",
  HttpApiEndpoint.get("list", path, { query: listQuery, success: Page(FieldDefinition) })
    .annotateMerge(described("List definitions of custom fields", "catalog:update", "catalog:read:unpublished")),
  HttpApiEndpoint.post("create", path, { payload: NewFieldDefinition, success: Created(FieldDefinition) })
    .annotateMerge(described("Create a custom field of a type of entities", "catalog:update")),
  HttpApiEndpoint.get("read", `${path}/:id`, { params: field, success: Data(FieldDefinition) }).annotateMerge(
    described("Get the definition of a custom field", "catalog:update", "catalog:read:unpublished")
  ),
  HttpApiEndpoint.patch("update", `${path}/:id`, {
    params: field,
    payload: FieldDefinitionChange,
    success: Data(FieldDefinition)
  }).annotateMerge(described("Change a custom field, as far as the values that are there allow", "catalog:update")),
  setStatus("archive", "Archive a custom field; its values stay"),
  setStatus("restore", "Restore an archived custom field with its values")
)
