import { Equal, Result } from "effect"
import type { Issue } from "../../errors/ApiErrors.ts"
import type { CatalogEntity } from "../Entity.ts"
import type { FieldDefinition } from "../fields/FieldDefinition.ts"
import { assigned, type FieldsByName } from "../fields/FieldRules.ts"
import type { CatalogRecord } from "./CatalogRecord.ts"
import type { StoredEntity } from "./CatalogState.ts"
import type { CatalogWrites } from "./CatalogWrites.ts"

/** What a reference can name. */
export interface Referable {
  readonly id: string
  readonly type: string
}

/** What values of custom fields in a batch are held to. */
export interface FieldState {
  /** The active fields of each type that the records have or get. */
  readonly definitions: ReadonlyMap<string, ReadonlyArray<FieldDefinition>>
  /** By slug: what references of the records name, and what the batch has made. */
  readonly referables: Map<string, Referable>
  /** Who has the values of unique fields that the records name, by `uniqueKey`. */
  readonly owners: Map<string, string>
}

/** A value of a unique field. */
export const uniqueKey = (definitionId: string, value: unknown): string => `${definitionId} ${JSON.stringify(value)}`

/** What a record makes of the custom fields of its entity. */
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

/** What was sent with the ids of what its references name. */
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

/** Values as they are stored; those of another type than the entity's went with that type. */
const storedFields = (stored: StoredEntity | undefined, type: string): FieldsByName | undefined =>
  stored === undefined || stored.entity.type !== type
    ? undefined
    : Object.fromEntries(stored.fields.map(({ name, value }) => [name, value]))

/** Values of unique fields that are another entity's. */
const taken = (unique: ReadonlyArray<FieldDefinition>, after: FieldsByName, entityId: string, state: FieldState) =>
  unique.flatMap(({ id, name }) => {
    const owner = Object.hasOwn(after, name) ? state.owners.get(uniqueKey(id, after[name])) : undefined
    return owner === undefined || owner === entityId
      ? []
      : [issue(name, "Another entity has this value already, which must be unique.", "conflict")]
  })

/**
 * The custom fields of an entity after a record is laid over it, held to what its type asks for as a change by its route
 * is. `state` learns who has which unique value once `writeTo` is called.
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
  // An entity may name itself, also one that is only made by this record.
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
