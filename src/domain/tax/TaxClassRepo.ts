import { Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { type Actor, CurrentActor, currentOrganization } from "../access/Actor.ts"
import { Conflict } from "../errors/ApiErrors.ts"
import type { Change } from "../events/Event.ts"
import { journalInsert } from "../events/JournalRepo.ts"
import { deleteTold } from "../events/ToldDeletionRepo.ts"
import { mark } from "../idempotency/MarkRepo.ts"
import { ownPage } from "../paging/OwnPageRepo.ts"
import type { PageOf, PageRequest } from "../paging/Paging.ts"
import type { TaxClass } from "./TaxClass.ts"

interface ClassRow {
  readonly id: string
  readonly organization_id: string
  readonly name: string
  readonly rate_bps: number
  readonly is_default: boolean
  readonly is_active: boolean
  readonly metadata: TaxClass["metadata"]
  readonly created_at: Date
  readonly updated_at: Date
}

const toClass = (row: ClassRow): TaxClass => ({
  id: row.id,
  organizationId: row.organization_id,
  name: row.name,
  rateBps: row.rate_bps,
  isDefault: row.is_default,
  isActive: row.is_active,
  metadata: row.metadata,
  createdAt: row.created_at,
  updatedAt: row.updated_at
})

/** All SQL of tax classes. Every change writes its entry of the journal in its own transaction. */
export class TaxClassRepo extends Context.Service<TaxClassRepo, {
  readonly find: (id: string) => Effect.Effect<TaxClass | undefined, never, CurrentActor>
  /** A page by name, in two statements. */
  readonly list: (page: PageRequest) => Effect.Effect<PageOf<TaxClass>, never, CurrentActor>
  /** Writes a new class; as the default it takes the place of the one before. 409 when its name is taken. */
  readonly insert: (made: TaxClass) => Effect.Effect<void, Conflict, CurrentActor>
  /**
   * Changes a class by a rule that sees it as it stands, with the row locked; a rule that changes nothing writes nothing.
   * Undefined for an unknown one; 409 when the name is taken.
   */
  readonly change: (
    id: string,
    rule: (before: TaxClass) => TaxClass
  ) => Effect.Effect<TaxClass | undefined, Conflict, CurrentActor>
  /** Deletes a class; false for an unknown one. */
  readonly remove: (id: string) => Effect.Effect<boolean, never, CurrentActor>
}>()("stoa/domain/tax/TaxClassRepo") {}

const told = (
  type: Extract<Change["type"], `taxClasses.${string}`>,
  payload: TaxClass,
  before: TaxClass | null
): Change => ({ type, entityType: "tax_class", entityId: payload.id, payload, before })

/** Two who choose a default at the same moment both see none; the index lets one of them. */
const orTaken = (error: SqlError.SqlError) => {
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
  /** Takes its place from the default there is, whose row is locked by this. */
  const replaceDefault = Effect.fnUntraced(function*(actor: Actor, { id, isDefault, updatedAt }: TaxClass) {
    if (!isDefault) return
    const rows = yield* sql<ClassRow>`update tax_classes set is_default = false, updated_at = ${updatedAt}::timestamptz
      where organization_id = ${actor.organizationId} and is_default and id <> ${id}::uuid returning *`
    const changes = rows.map(toClass).map((one) => told("taxClasses.update", one, { ...one, isDefault: true }))
    if (changes.length > 0) yield* journalInsert(sql, actor, changes)
  })

  const insert = Effect.fn("TaxClassRepo.insert")(
    function*(c: TaxClass) {
      const actor = yield* CurrentActor
      yield* replaceDefault(actor, c)
      yield* sql`with event as (${journalInsert(sql, actor, [told("taxClasses.create", c, null)])})${mark(sql, actor)}
        insert into tax_classes (id, organization_id, name, rate_bps, is_default, is_active, metadata, created_at,
          updated_at)
        values (${c.id}::uuid, ${actor.organizationId}, ${c.name}, ${c.rateBps}, ${c.isDefault}, ${c.isActive},
          ${JSON.stringify(c.metadata)}::jsonb, ${c.createdAt}::timestamptz, ${c.updatedAt}::timestamptz)`
    },
    sql.withTransaction,
    Effect.catchTag("SqlError", orTaken)
  )

  const change = Effect.fn("TaxClassRepo.change")(
    function*(id: string, rule: (before: TaxClass) => TaxClass) {
      const actor = yield* CurrentActor
      // The default is locked with it, in one order: two changes of the default never wait for each other in a circle.
      const rows = yield* sql<ClassRow>`select * from tax_classes
        where organization_id = ${actor.organizationId} and (id = ${id}::uuid or is_default) order by id for update`
      const row = rows.find((one) => one.id === id)
      if (row === undefined) return undefined
      const before = toClass(row)
      const c = rule(before)
      if (c === before) return c
      yield* replaceDefault(actor, c)
      yield* sql`with event as (${journalInsert(sql, actor, [told("taxClasses.update", c, before)])})${mark(sql, actor)}
        update tax_classes set name = ${c.name}, rate_bps = ${c.rateBps}, is_default = ${c.isDefault},
          is_active = ${c.isActive}, metadata = ${JSON.stringify(c.metadata)}::jsonb,
          updated_at = ${c.updatedAt}::timestamptz
        where id = ${id}::uuid and organization_id = ${actor.organizationId}`
      return c
    },
    sql.withTransaction,
    Effect.catchTag("SqlError", orTaken)
  )

  const remove = Effect.fn("TaxClassRepo.remove")((id: string) =>
    deleteTold(sql, "tax_classes", id, (row: ClassRow) => told("taxClasses.delete", toClass(row), toClass(row))).pipe(
      Effect.map((gone) => gone !== undefined),
      Effect.orDie
    )
  )

  return { insert, change, remove }
}

/** `TaxClassRepo` over the database of the process. */
export const taxClassRepoLayer = Layer.effect(
  TaxClassRepo,
  Effect.map(SqlClient.SqlClient, (sql) => {
    const find = Effect.fn("TaxClassRepo.find")(function*(id: string) {
      const [row] = yield* sql<ClassRow>`select * from tax_classes
        where id = ${id}::uuid and organization_id = ${yield* currentOrganization}`
      return row && toClass(row)
    }, Effect.orDie)

    const rows = { table: "tax_classes", order: "name", toRecord: toClass }
    const list = Effect.fn("TaxClassRepo.list")((page: PageRequest) => Effect.orDie(ownPage(sql, rows, page)))

    return TaxClassRepo.of({ find, list, ...writing(sql) })
  })
)
