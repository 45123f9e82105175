import { Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { CurrentActor } from "../access/Actor.ts"
import { Conflict } from "../errors/ApiErrors.ts"
import { changeLogInsert } from "../events/ChangeLogRepo.ts"
import { type RecordRepo, recordRepo } from "../records/RecordRepo.ts"
import { recordService } from "../records/RecordService.ts"
import { Table } from "../records/Table.ts"
import { changedClass, newClass, TaxClass } from "./TaxClass.ts"
import { TaxClasses } from "./TaxClasses.ts"
import { TaxRuleCache } from "./TaxRuleRepo.ts"

export const classes = new Table("tax_classes", TaxClass)

/** Two concurrent choices of a default both see none; the unique index accepts one. */
const orConflict = (error: SqlError.SqlError) => {
  const { reason } = error
  if (reason._tag !== "UniqueViolation") return Effect.die(error)
  return Effect.fail(
    Conflict.of(
      reason.constraint === "tax_classes_default"
        ? "Another class became the default at the same moment."
        : "A tax class with this name already exists."
    )
  )
}

/** `TaxClasses` over the database of the process. */
export const taxClassesLayer = Layer.effect(
  TaxClasses,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const repo = recordRepo(sql, {
      table: classes,
      order: "name",
      entityType: "tax_class",
      changes: { create: "taxClasses.create", update: "taxClasses.update", delete: "taxClasses.delete" },
      // So two changes of the default cannot deadlock.
      alsoLocked: "is_default"
    }, orConflict)

    /** Locks and unsets the current default. */
    const replaceDefault = Effect.fnUntraced(function*({ id, isDefault, updatedAt }: TaxClass) {
      if (!isDefault) return
      const actor = yield* CurrentActor
      const rows = yield* classes.rows(sql)`update tax_classes
        set is_default = false, updated_at = ${updatedAt}::timestamptz
        where organization_id = ${actor.organizationId} and is_default and id <> ${id}::uuid
        returning ${sql.literal(classes.columns())}`
      const changes = rows.map((payload) => {
        const before = { ...payload, isDefault: true }
        return { type: "taxClasses.update", entityType: "tax_class", entityId: payload.id, payload, before } as const
      })
      if (changes.length > 0) yield* changeLogInsert(sql, actor, changes)
    }, Effect.orDie)

    const withDefault: RecordRepo<TaxClass, Conflict> = {
      ...repo,
      insert: (made) =>
        Effect.andThen(replaceDefault(made), repo.insert(made)).pipe(
          sql.withTransaction,
          Effect.catchTag("SqlError", Effect.die)
        ),
      change: (id, rule) => repo.change(id, (before) => Effect.tap(rule(before), replaceDefault))
    }
    const rules = { name: "Tax class", made: newClass, changed: changedClass }
    return recordService(rules, withDefault, (yield* TaxRuleCache).forget)
  })
)
