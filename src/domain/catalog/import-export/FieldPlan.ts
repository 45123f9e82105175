import { Equal, Result } from "effect"
import type { Issue } from "../../errors/ApiErrors.ts"
import type { CatalogEntity } from "../Entity.ts"
import type { FieldDefinition } from "../fields/FieldDefinition.ts"
import { assigned, type FieldsByName } from "../fields/FieldRules.ts"
import type { CatalogRecord } from "./CatalogRecord.ts"
import type { StoredEntity } from "./CatalogState.ts"
import type { CatalogWrites } from "./CatalogWrites.ts"

/** An entity that a reference can name. */
export interface Referable {
  readonly id: string
  readonly type: string
}

/** The state that custom fields of a batch are validated against. */
export interface FieldState {
  /** The active fields of each type of the records. */
  readonly definitions: ReadonlyMap<string, ReadonlyArray<FieldDefinition>>
  /** By slug: entities that the records reference, and those that the batch creates. */
  readonly referables: Map<string, Referable>
  /** The owners of unique values that the records name, by `uniqueKey`. */
  readonly owners: Map<string, string>
}

/** A value of a unique field. */
export const uniqueKey = (definitionId: string, value: unknown): string => `${definitionId} ${JSON.stringify(value)}`

/** The custom fields of an entity after a record. */
export interface PlannedFields {
  /** Undefined: the type has none. */
  readonly before: FieldsByName | undefined
  readonly after: FieldsByName | undefined
  readonly isChanged: boolean
  readonly writeTo: (writes: CatalogWrites) => void
}

type Find = (slug: string) => Referable | undefined

const none: PlannedFields = { before: undefined, after: undefined, isChanged: false, writeTo: () => undefined }

const issue = (name: string, message: string, code: string): Issue => ({ path: `customFields.${name}`, message, code })

const referenced = (
  { name, rules }: FieldDefinition,
  slug: unknown,
  find: Find
): Result.Result<string, Issue> => {
  if (typeof slug !== "string") return Result.fail(issue(name, "must be the slug of a catalog entity", "invalid"))
  const found = find(slug)
  if (found !== undefined && (rules.entityType === undefined || rules.entityType === found.type)) {
    return Result.succeed(found.id)
  }
  const what = rules.entityType === undefined ? "catalog entity" : `catalog entity of type ${rules.entityType}`
  return Result.fail(
    issue(name, `No such ${what} with the slug '${slug}', here or before it in the file.`, "not_found")
  )
}

/** The sent values, with the ids of referenced entities. */
const resolved = (
  definitions: ReadonlyArray<FieldDefinition>,
  sent: FieldsByName,
  find: Find
) => {
  const values: Record<string, unknown> = { ...sent }
  const issues: Array<Issue> = []
  for (const definition of definitions) {
    const { kind, name } = definition
    if (kind !== "reference" || !Object.hasOwn(sent, name) || sent[name] === null) continue
    const found = referenced(definition, sent[name], find)
    if (Result.isSuccess(found)) values[name] = found.success
    else {
      issues.push(found.failure)
      delete values[name]
    }
  }
  return { values, issues }
}

/** Stored values; a change of type drops those of the previous type. */
const storedFields = (stored: StoredEntity | undefined, type: string): FieldsByName | undefined =>
  stored === undefined || stored.entity.type !== type
    ? undefined
    : Object.fromEntries(stored.fields.map(({ name, value }) => [name, value]))

/** Values of unique fields that belong to another entity. */
const taken = (unique: ReadonlyArray<FieldDefinition>, after: FieldsByName, entityId: string, state: FieldState) =>
  unique.flatMap(({ id, name }) => {
    const owner = Object.hasOwn(after, name) ? state.owners.get(uniqueKey(id, after[name])) : undefined
    return owner === undefined || owner === entityId
      ? []
      : [issue(name, "Another entity has this value already, which must be unique.", "conflict")]
  })

/**
 * Merges a record into the custom fields of its entity and validates them like the API. `writeTo` adds the unique
 * values to `state`.
 */
export const planFields = (
  entity: CatalogEntity,
  stored: StoredEntity | undefined,
  record: CatalogRecord,
  state: FieldState
): Result.Result<PlannedFields, ReadonlyArray<Issue>> => {
  const definitions = state.definitions.get(entity.type) ?? []
  const held = storedFields(stored, entity.type)
  const gone = held === undefined ? stored?.fields ?? [] : []
  if (record.customFields === undefined && (held !== undefined || definitions.length + gone.length === 0)) {
    return Result.succeed(none)
  }
  // An entity may reference itself, even one that this record creates.
  const find: Find = (slug) => slug === entity.slug ? entity : state.referables.get(slug)
  const sent = resolved(definitions, record.customFields ?? {}, find)
  const { after, issues } = assigned(definitions, held, sent.values)
  const unique = definitions.filter(({ isUnique }) => isUnique)
  const strays = new Set(sent.issues.map(({ path }) => path))
  const wrong = [
    ...sent.issues,
    ...issues.filter(({ path }) => !strays.has(path)),
    ...taken(unique, after, entity.id, state)
  ]
  if (wrong.length > 0) return Result.fail(wrong)
  const before = held ?? {}
  const writeTo = (writes: CatalogWrites) => {
    for (const { definitionId } of gone) writes.goneFields.push({ entityId: entity.id, definitionId })
    for (const { id, isUnique, kind, name } of definitions) {
      const [was, is] = [before[name], after[name]]
      if (isUnique && was !== undefined) state.owners.delete(uniqueKey(id, was))
      if (isUnique && is !== undefined) state.owners.set(uniqueKey(id, is), entity.id)
      if (is === undefined && was !== undefined) writes.goneFields.push({ entityId: entity.id, definitionId: id })
      if (is === undefined || Equal.equals(is, was)) continue
      const isReference = kind === "reference"
      writes.fields.push({ entityId: entity.id, definitionId: id, value: is, isUnique, isReference })
    }
  }
  return Result.succeed({ before, after, isChanged: gone.length > 0 || !Equal.equals(before, after), writeTo })
}
