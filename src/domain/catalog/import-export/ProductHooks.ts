import { Effect, Schema } from "effect"
import { ValidationFailed } from "../../errors/ApiErrors.ts"
import type { Hooks } from "../../hooks/Hooks.ts"
import type { CatalogEntity, NewEntity } from "../Entity.ts"
import type { StoredProduct } from "./ProductImportRepo.ts"
import type { ProductRecord } from "./ProductRecord.ts"

/** An entity that a record created or changed. */
export interface WrittenProduct {
  readonly entity: CatalogEntity
  readonly old: CatalogEntity | undefined
}

/** The hooks around a batch: before each record, at the end of its transaction, and after it. */
export const productHooks = (hooks: Hooks["Service"]) => {
  /** Runs the hooks of a create or an update on a record; 422 when one refuses it. */
  const changed = Effect.fnUntraced(function*(record: ProductRecord, type: string, stored: StoredProduct | undefined) {
    const sent: NewEntity = { type, slug: record.slug, ...given(record) }
    if (stored === undefined) {
      const general = yield* hooks.before("catalog.beforeCreate", sent)
      const after = yield* hooks.before(`catalog.${general.type}.beforeCreate`, general)
      return { ...record, type: after.type, ...given(after) }
    }
    const of = { entityId: stored.entity.id }
    const general = yield* hooks.before("catalog.beforeUpdate", given(record), of)
    return { ...record, ...given(yield* hooks.before(`catalog.${type}.beforeUpdate`, general, of)) }
  })

  /** The record after the hooks, also those of the categories that it adds. */
  const asked = Effect.fnUntraced(function*(record: ProductRecord, stored: StoredProduct | undefined) {
    const type = record.type ?? stored?.entity.type
    if (type === undefined || !hooks.hasAny(beforeHooks)) return record
    const after = yield* changed(record, type, stored)
    const linked = new Set(stored?.categories.map(({ slug }) => slug))
    const categories = after.categories?.filter((slug) => !linked.has(slug)) ?? []
    if (categories.length > 0) {
      const of = { entityId: stored?.entity.id ?? null, categories, metadata: after.metadata ?? null }
      yield* hooks.before("catalog.beforeCategorize", of)
    }
    return after
  })

  /**
   * Runs the hooks of a batch inside its transaction. A refusal here is a bug of the hook: records are refused earlier,
   * by the hooks of each record.
   */
  const committed = (written: ReadonlyArray<WrittenProduct>) =>
    written.length === 0 || !hooks.has("catalog.beforeCommit")
      ? Effect.void
      : Effect.catchIf(
        hooks.before("catalog.beforeCommit", {
          created: written.flatMap(({ entity, old }) => old === undefined ? [entity] : []),
          updated: written.flatMap(({ entity, old }) => old === undefined ? [] : [{ entity, old }])
        }),
        Schema.is(ValidationFailed),
        Effect.die
      )

  const recorded = ({ entity, old }: WrittenProduct) => {
    const key = old === undefined ? "afterCreate" : "afterUpdate"
    return hooks.hasAny(afterHooks)
      ? [hooks.after(`catalog.${key}`, entity, old), hooks.after(`catalog.${entity.type}.${key}`, entity, old)]
      : []
  }

  return { asked, committed, recorded }
}

const beforeHooks = /^catalog\.(.+\.)?before(Create|Update|Categorize)$/
const afterHooks = /^catalog\.(.+\.)?after(Create|Update)$/

/** Drops undefined fields: an absent key keeps the value, and hooks would see undefined as a change. */
const given = ({ customFields, metadata, status, taxClass }: Given) => ({
  ...(status === undefined ? {} : { status }),
  ...(metadata === undefined ? {} : { metadata }),
  ...(taxClass === undefined ? {} : { taxClass }),
  ...(customFields === undefined ? {} : { customFields })
})

type Given = Pick<ProductRecord, "customFields" | "metadata" | "status" | "taxClass">
