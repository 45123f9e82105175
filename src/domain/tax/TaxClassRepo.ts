import { Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { type Actor, CurrentActor, currentOrganization } from "../access/Actor.ts"
import { Conflict } from "../errors/ApiErrors.ts"
import { changeLogInsert } from "../events/ChangeLogRepo.ts"
import type { Change } from "../events/Event.ts"
import { deleteRecorded } from "../events/RecordedDeletionRepo.ts"
import { idempotencyRecord } from "../idempotency/IdempotencyRecordRepo.ts"
import { columnsOf } from "../modules/RecordColumns.ts"
import { ownPage } from "../paging/OwnPageRepo.ts"
import type { PageOf, PageRequest } from "../paging/Paging.ts"
import { TaxClass } from "./TaxClass.ts"

/** Tax classes. Every change writes its change log entry in the same transaction. */
export class TaxClassRepo extends Context.Service<TaxClassRepo, {
  readonly find: (id: string) => Effect.Effect<TaxClass | undefined, never, CurrentActor>
  /** A page by name, in two statements. */
  readonly list: (page: PageRequest) => Effect.Effect<PageOf<TaxClass>, never, CurrentActor>
  /** Inserts a class; a default replaces the previous one. 409 when another class has the name. */
  readonly insert: (made: TaxClass) => Effect.Effect<void, Conflict, CurrentActor>
  /**
   * Changes a class by a rule that gets the locked row. A rule without a change writes nothing. Undefined for an
   * unknown class; 409 if another class has the name.
   */
  readonly change: (
    id: string,
    rule: (before: TaxClass) => TaxClass
  ) => Effect.Effect<TaxClass | undefined, Conflict, CurrentActor>
  /** Deletes a class; false for an unknown id. */
  readonly remove: (id: string) => Effect.Effect<boolean, never, CurrentActor>
}>()("stoa/domain/tax/TaxClassRepo") {}

const source = { table: "tax_classes", columns: columnsOf(TaxClass.fields), order: "name" }

const toChange = (
  type: Extract<Change["type"], `taxClasses.${string}`>,
  payload: TaxClass,
  before: TaxClass | null
): Change => ({ type, entityType: "tax_class", entityId: payload.id, payload, before })

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

const writing = (sql: SqlClient.SqlClient) => {
  /** Locks and unsets the current default. */
  const replaceDefault = Effect.fnUntraced(function*(actor: Actor, { id, isDefault, updatedAt }: TaxClass) {
    if (!isDefault) return
    const rows = yield* sql<TaxClass>`update tax_classes set is_default = false, updated_at = ${updatedAt}::timestamptz
      where organization_id = ${actor.organizationId} and is_default and id <> ${id}::uuid returning ${
      sql.literal(source.columns)
    }`
    const changes = rows.map((one) => toChange("taxClasses.update", one, { ...one, isDefault: true }))
    if (changes.length > 0) yield* changeLogInsert(sql, actor, changes)
  })

  const insert = Effect.fn("TaxClassRepo.insert")(
    function*(c: TaxClass) {
      const actor = yield* CurrentActor
      yield* replaceDefault(actor, c)
      yield* sql`with event as (${changeLogInsert(sql, actor, [toChange("taxClasses.create", c, null)])})${
        idempotencyRecord(sql, actor)
      }
        insert into tax_classes (id, organization_id, name, rate_bps, is_default, is_active, metadata, created_at,
          updated_at)
        values (${c.id}::uuid, ${actor.organizationId}, ${c.name}, ${c.rateBps}, ${c.isDefault}, ${c.isActive},
          ${JSON.stringify(c.metadata)}::jsonb, ${c.createdAt}::timestamptz, ${c.updatedAt}::timestamptz)`
    },
    sql.withTransaction,
    Effect.catchTag("SqlError", orConflict)
  )

  const change = Effect.fn("TaxClassRepo.change")(
    function*(id: string, rule: (before: TaxClass) => TaxClass) {
      const actor = yield* CurrentActor
      // Locks the default too, ordered by id, so that two changes of the default cannot deadlock.
      const rows = yield* sql<TaxClass>`select ${sql.literal(source.columns)} from tax_classes
        where organization_id = ${actor.organizationId} and (id = ${id}::uuid or is_default) order by id for update`
      const before = rows.find((one) => one.id === id)
      if (before === undefined) return undefined
      const c = rule(before)
      if (c === before) return c
      yield* replaceDefault(actor, c)
      yield* sql`with event as (${changeLogInsert(sql, actor, [toChange("taxClasses.update", c, before)])})${
        idempotencyRecord(sql, actor)
      }
        update tax_classes set name = ${c.name}, rate_bps = ${c.rateBps}, is_default = ${c.isDefault},
          is_active = ${c.isActive}, metadata = ${JSON.stringify(c.metadata)}::jsonb,
          updated_at = ${c.updatedAt}::timestamptz
        where id = ${id}::uuid and organization_id = ${actor.organizationId}`
      return c
    },
    sql.withTransaction,
    Effect.catchTag("SqlError", orConflict)
  )

  const remove = Effect.fn("TaxClassRepo.remove")((id: string) =>
    deleteRecorded(sql, source, id, (deleted: TaxClass) => toChange("taxClasses.delete", deleted, deleted)).pipe(
      Effect.map((deleted) => deleted !== undefined),
      Effect.orDie
    )
  )

  return { insert, change, remove }
}

/** `TaxClassRepo` over the database. */
export const taxClassRepoLayer = Layer.effect(
  TaxClassRepo,
  Effect.map(SqlClient.SqlClient, (sql) => {
    const find = Effect.fn("TaxClassRepo.find")(function*(id: string) {
      const [row] = yield* sql<TaxClass>`select ${sql.literal(source.columns)} from tax_classes
        where id = ${id}::uuid and organization_id = ${yield* currentOrganization}`
      return row
    }, Effect.orDie)

    const list = Effect.fn("TaxClassRepo.list")((page: PageRequest) =>
      Effect.orDie(ownPage<TaxClass>(sql, source, page))
    )

    return TaxClassRepo.of({ find, list, ...writing(sql) })
  })
)
