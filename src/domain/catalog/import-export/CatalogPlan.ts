import { Equal, Result } from "effect"
import type { Issue } from "../../errors/ApiErrors.ts"
import { newId } from "../../ids/Id.ts"
import type { CatalogEntity } from "../Entity.ts"
import type { FieldsByName } from "../fields/FieldRules.ts"
import type { CatalogRecord, RecordWords } from "./CatalogRecord.ts"
import type { CatalogState, StoredEntity, StoredWords } from "./CatalogState.ts"
import { addWrites, type CatalogWrites, noWrites } from "./CatalogWrites.ts"
import { type FieldState, planFields, type PlannedFields } from "./FieldPlan.ts"
import { planLinks } from "./LinkPlan.ts"
import { planVariants } from "./VariantPlan.ts"

/** The plan of a record: its writes, or the reason it is refused. */
export interface PlannedRecord {
  readonly outcome: "created" | "updated" | "unchanged"
  /** The entity after it, and before it if it existed. */
  readonly entity: CatalogEntity
  readonly old: CatalogEntity | undefined
  readonly writes: CatalogWrites
}

/** Merges the sent fields into the stored ones: absent keeps. */
export const over = <A>(sent: A | undefined, before: A): A => sent === undefined ? before : sent

const issue = (path: string, message: string): Issue => ({ path, message, code: "invalid" })

const blank = (record: CatalogRecord, type: string, organizationId: string, now: Date): CatalogEntity => ({
  id: newId(),
  organizationId,
  sourceStoreId: null,
  type,
  slug: record.slug,
  status: "draft",
  isVisible: false,
  taxClass: null,
  metadata: {},
  createdAt: now,
  updatedAt: now,
  publishedAt: null
})

/** The entity after the record. Activation also makes it visible and published, as in the API. */
const entityAfter = (before: CatalogEntity, record: CatalogRecord, now: Date): CatalogEntity => {
  const status = over(record.status, before.status)
  const activated = status === "active" && before.status !== "active"
  const after = {
    ...before,
    type: over(record.type, before.type),
    status,
    isVisible: over(record.isVisible, before.isVisible || activated),
    taxClass: over(record.taxClass, before.taxClass),
    metadata: over(record.metadata, before.metadata),
    publishedAt: activated ? now : before.publishedAt
  }
  return Equal.equals(after, before) ? before : { ...after, updatedAt: now }
}

const wordsAfter = (
  before: StoredWords | undefined,
  sent: RecordWords
): StoredWords | undefined => {
  const title = over(sent.title, before?.title)
  if (title === undefined) return undefined
  const after = {
    id: before?.id ?? newId(),
    locale: sent.locale ?? "en",
    title,
    subtitle: over(sent.subtitle, before?.subtitle ?? null),
    description: over(sent.description, before?.description ?? null),
    richDescription: over(sent.richDescription, before?.richDescription ?? null),
    seoTitle: over(sent.seoTitle, before?.seoTitle ?? null),
    seoDescription: over(sent.seoDescription, before?.seoDescription ?? null)
  }
  return before !== undefined && Equal.equals(after, before) ? before : after
}

interface Words {
  readonly changed: ReadonlyArray<StoredWords>
  readonly before: ReadonlyArray<StoredWords>
}

const planWords = (
  stored: ReadonlyArray<StoredWords>,
  sent: ReadonlyArray<RecordWords>
): Result.Result<Words, ReadonlyArray<Issue>> => {
  const byLocale = new Map(stored.map((words) => [words.locale, words]))
  const [changed, before]: [Array<StoredWords>, Array<StoredWords>] = [[], []]
  for (const [index, words] of sent.entries()) {
    const locale = words.locale ?? "en"
    const known = byLocale.get(locale)
    const after = wordsAfter(known, words)
    if (after === undefined) {
      return Result.fail([issue(`attributes.${index}.title`, "is required the first time a locale is written")])
    }
    if (after === known) continue
    byLocale.set(locale, after)
    changed.push(after)
    if (known !== undefined) before.push(known)
  }
  return Result.succeed({ changed, before })
}

const shown = (
  entity: CatalogEntity,
  words: ReadonlyArray<StoredWords>,
  customFields: FieldsByName | undefined
) => ({
  ...entity,
  ...(customFields === undefined ? {} : { customFields }),
  ...(words.length === 0 ? {} : { attributes: words.map((one) => ({ entityId: entity.id, ...one })) })
})

/** The change log entry of the entity: one entry for all changed fields. */
const entityChange = (
  old: CatalogEntity | undefined,
  entity: CatalogEntity,
  words: Words,
  fields: PlannedFields
): CatalogWrites["changes"] => {
  const of = { entityType: "catalog_entity", entityId: entity.id } as const
  const payload = shown(entity, words.changed, fields.after)
  if (old === undefined) return [{ type: "catalog.create", ...of, payload }]
  if (old === entity) return []
  return [{ type: "catalog.update", ...of, payload, before: shown(old, words.before, fields.before) }]
}

/** Writes of the entity's row; changed attributes and custom fields update its time as well. */
const entityWrites = (
  old: CatalogEntity | undefined,
  entity: CatalogEntity,
  words: Words,
  fields: PlannedFields
): CatalogWrites => {
  const writes = noWrites()
  if (old === undefined) writes.newEntities.push(entity)
  else if (old !== entity) writes.changedEntities.push(entity)
  writes.words.push(...words.changed.map((one) => ({ ...one, entityId: entity.id })))
  writes.changes.push(...entityChange(old, entity, words, fields))
  fields.writeTo(writes)
  return writes
}

/**
 * Plans the changes of a record against the stored state. Adds new categories, brands, SKUs, entities and unique values
 * to `state` and `fieldState`, so that the next record of the batch finds them.
 */
export const planRecord = (
  record: CatalogRecord,
  state: CatalogState,
  fieldState: FieldState,
  organizationId: string
): Result.Result<PlannedRecord, ReadonlyArray<Issue>> => {
  const stored: StoredEntity | undefined = state.entities.get(record.slug)
  if (stored === undefined && record.type === undefined) {
    return Result.fail([issue("type", "is required for a new record")])
  }
  const words = planWords(stored?.words ?? [], record.attributes ?? [])
  if (Result.isFailure(words)) return Result.fail(words.failure)
  const before = stored?.entity ?? blank(record, record.type ?? "", organizationId, state.now)
  const changed = entityAfter(before, record, state.now)
  const fields = planFields(changed, stored, record, fieldState)
  if (Result.isFailure(fields)) return Result.fail(fields.failure)
  const isTouched = words.success.changed.length > 0 || fields.success.isChanged
  const entity = isTouched ? { ...changed, updatedAt: state.now } : changed
  const variants = planVariants(entity, stored, record, state)
  if (Result.isFailure(variants)) return Result.fail(variants.failure)
  const writes = entityWrites(stored?.entity, entity, words.success, fields.success)
  addWrites(writes, planLinks(entity.id, stored, record, state, organizationId))
  addWrites(writes, variants.success)
  fieldState.referables.set(entity.slug, entity)
  return Result.succeed({
    outcome: stored === undefined ? "created" : writes.changes.length === 0 ? "unchanged" : "updated",
    entity,
    old: stored?.entity,
    writes
  })
}
