import { Equal, Result } from "effect"
import type { CatalogEntity } from "../../catalog/Entity.ts"
import { assigned, type FieldDefinition, type FieldsByName } from "../../catalog/fields/FieldDefinition.ts"
import type { RowBatch } from "../../platform/batching/RowBatch.ts"
import type { Issue } from "../../platform/errors/ApiErrors.ts"
import { type FieldState, productTables, type Referable, type StoredProduct, uniqueKey } from "./CatalogImportRepo.ts"
import type { ProductRecord } from "./ProductRecord.ts"

export interface PlannedFields {
  readonly before: FieldsByName | undefined
  readonly after: FieldsByName | undefined
  readonly isChanged: boolean
  readonly writeTo: (draft: RowBatch) => void
}

const none: PlannedFields = { before: undefined, after: undefined, isChanged: false, writeTo: () => undefined }

const issue = (name: string, message: string, code: string): Issue => ({ path: `customFields.${name}`, message, code })

const referenced = (
  { name, rules: { entityType } }: FieldDefinition,
  slug: unknown,
  find: (slug: string) => Referable | undefined
): Result.Result<string, Issue> => {
  if (typeof slug !== "string") return Result.fail(issue(name, "must be the slug of a catalog entity.", "type"))
  const found = find(slug)
  if (found !== undefined && (entityType === undefined || entityType === found.type)) return Result.succeed(found.id)
  const what = entityType === undefined ? "catalog entity" : `catalog entity of type ${entityType}`
  return Result.fail(
    issue(name, `must be the slug of a ${what}, here or before it in the file: '${slug}' is none.`, "not_found")
  )
}

/**
 * Merges a record into the custom fields of its entity and validates them like the API. `writeTo` adds the unique
 * values to `state`.
 */
export const planFields = (
  entity: CatalogEntity,
  stored: StoredProduct | undefined,
  { customFields }: ProductRecord,
  { definitions: all, owners, referables }: FieldState
): Result.Result<PlannedFields, ReadonlyArray<Issue>> => {
  const [definitions, sent] = [all.get(entity.type) ?? [], customFields ?? {}]
  // A change of type drops the values of the previous type.
  const isOfType = stored?.entity.type === entity.type
  const gone = isOfType ? [] : stored?.fields ?? []
  const held = isOfType ? Object.fromEntries(stored.fields.map(({ name, value }) => [name, value])) : undefined
  if (customFields === undefined && (isOfType || definitions.length + gone.length === 0)) return Result.succeed(none)
  const values: Record<string, unknown> = { ...sent }
  const unresolved: Array<Issue> = []
  for (const definition of definitions.filter(({ kind }) => kind === "reference")) {
    const { name } = definition
    if (!Object.hasOwn(sent, name) || sent[name] === null) continue
    const found = referenced(definition, sent[name], (slug) => slug === entity.slug ? entity : referables.get(slug))
    if (Result.isSuccess(found)) values[name] = found.success
    else {
      unresolved.push(found.failure)
      delete values[name]
    }
  }
  const { after, issues } = assigned(definitions, held, values)
  const reported = new Set(unresolved.map(({ path }) => path))
  const wrong = [
    ...unresolved,
    ...issues.filter(({ path }) => !reported.has(path)),
    ...definitions.flatMap(({ id, isUnique, name }) => {
      const owner = isUnique && Object.hasOwn(after, name) ? owners.get(uniqueKey(id, after[name])) : undefined
      return owner === undefined || owner === entity.id
        ? []
        : [issue(name, "must be unique, and another entity has this value.", "conflict")]
    })
  ]
  if (wrong.length > 0) return Result.fail(wrong)
  const before = held ?? {}
  const writeTo = (draft: RowBatch) => {
    const entityId = entity.id
    draft.remove(productTables.fields, ...gone.map(({ definitionId }) => ({ entityId, definitionId })))
    for (const { id: definitionId, isUnique, kind, name } of definitions) {
      const [was, value] = [before[name], after[name]]
      if (isUnique && was !== undefined) owners.delete(uniqueKey(definitionId, was))
      if (isUnique && value !== undefined) owners.set(uniqueKey(definitionId, value), entityId)
      if (value === undefined && was !== undefined) draft.remove(productTables.fields, { entityId, definitionId })
      if (value === undefined || Equal.equals(value, was)) continue
      const referenceId = kind === "reference" ? value : null
      draft.put(productTables.fields, { entityId, definitionId, value, uniqueKey: isUnique ? "" : null, referenceId })
    }
  }
  return Result.succeed({ before, after, isChanged: gone.length > 0 || !Equal.equals(before, after), writeTo })
}
