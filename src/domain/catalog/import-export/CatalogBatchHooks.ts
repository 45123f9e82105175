import { Effect } from "effect"
import type { Hooks } from "../../hooks/Hooks.ts"
import type { NewEntity } from "../Entity.ts"
import type { PlannedRecord } from "./CatalogPlan.ts"
import type { CatalogRecord } from "./CatalogRecord.ts"
import type { StoredEntity } from "./CatalogState.ts"

/** The hooks around a batch: before each record, at the end of its transaction, and after it. */
export const batchHooks = (hooks: Hooks["Service"]) => {
  /** Runs the hooks of a create or an update on a record; 422 when one refuses it. */
  const changed = Effect.fnUntraced(
    function*(record: CatalogRecord, type: string, stored: StoredEntity | undefined) {
      const sent: NewEntity = { type, slug: record.slug, ...given(record) }
      if (stored === undefined) {
        const general = yield* hooks.before("catalog.beforeCreate", sent)
        const after = yield* hooks.before(`catalog.${general.type}.beforeCreate`, general)
        return { ...record, type: after.type, ...given(after) }
      }
      const of = { entityId: stored.entity.id }
      const general = yield* hooks.before("catalog.beforeUpdate", given(record), of)
      return { ...record, ...given(yield* hooks.before(`catalog.${type}.beforeUpdate`, general, of)) }
    }
  )

  /** The same, with the categories that it adds. */
  const asked = Effect.fnUntraced(
    function*(record: CatalogRecord, type: string, stored: StoredEntity | undefined) {
      const after = yield* changed(record, type, stored)
      const known = new Set(stored?.categories.map(({ slug }) => slug))
      const categories = after.categories?.filter((slug) => !known.has(slug)) ?? []
      if (categories.length > 0) {
        const of = { entityId: stored?.entity.id ?? null, categories, metadata: after.metadata ?? null }
        yield* hooks.before("catalog.beforeCategorize", of)
      }
      return after
    }
  )

  /**
   * Runs the hooks of a batch inside its transaction. A refusal here is a bug of the hook: records are refused earlier,
   * by the hooks of each record.
   */
  const committed = (plans: ReadonlyArray<PlannedRecord>) => {
    const written = plans.filter(({ outcome }) => outcome !== "unchanged")
    return written.length === 0 || !hooks.has("catalog.beforeCommit")
      ? Effect.void
      : Effect.catchTag(
        hooks.before("catalog.beforeCommit", {
          created: written.flatMap(({ entity, old }) => old === undefined ? [entity] : []),
          updated: written.flatMap(({ entity, old }) => old === undefined ? [] : [{ entity, old }])
        }),
        "ValidationFailed",
        Effect.die
      )
  }

  const recorded = (plans: ReadonlyArray<PlannedRecord>) =>
    hooks.hasAny(afterHooks)
      ? Effect.forEach(plans, ({ entity, old, outcome }) => {
        if (outcome === "unchanged") return Effect.void
        const key = outcome === "created" ? "afterCreate" : "afterUpdate"
        const before = old ?? null
        return Effect.andThen(
          hooks.after(`catalog.${key}`, entity, before ?? undefined),
          hooks.after(`catalog.${entity.type}.${key}`, entity, before ?? undefined)
        )
      }, { discard: true })
      : Effect.void

  return { asked, committed, recorded, listened: () => hooks.hasAny(beforeHooks) }
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

type Given = Pick<CatalogRecord, "customFields" | "metadata" | "status" | "taxClass">
