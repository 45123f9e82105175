import { Effect, String } from "effect"
import { type SqlClient, SqlError, type Statement } from "effect/sql"
import { CurrentActor, currentOrganization } from "../access/Actor.ts"
import { changeLogInsert } from "../events/ChangeLogRepo.ts"
import type { ChangeType, Subject } from "../events/Event.ts"
import { deleteRecorded } from "../events/RecordedDeletionRepo.ts"
import { isSameRecord } from "../events/Unchanged.ts"
import { idempotencyRecord } from "../idempotency/IdempotencyRecordRepo.ts"
import { ownPage } from "../paging/OwnPageRepo.ts"
import type { PageOf, PageRequest } from "../paging/Paging.ts"
import { columnsOf } from "./RecordColumns.ts"

/** A table whose columns are the fields of a record's schema in snake case, and how its changes are recorded. */
export interface RecordSource {
  readonly table: string
  readonly fields: Readonly<Record<string, unknown>>
  /** SQL of fields that are read in another form than stored, for example a bigint as a number. */
  readonly expressions?: Readonly<Record<string, string>>
  /** Order of lists. */
  readonly order: string
  readonly entityType: Subject
  readonly changes: { readonly create: ChangeType; readonly update: ChangeType; readonly delete: ChangeType }
  /** Condition of other rows that a change locks as well, in the order of their ids. */
  readonly alsoLocked?: string
}

/** Records of the organization of the request; every change writes its change log entry in the same transaction. */
export interface RecordRepo<A, E> {
  readonly find: (id: string) => Effect.Effect<A | undefined, never, CurrentActor>
  /** A page in two statements; `only` narrows it further. */
  readonly list: (
    page: PageRequest,
    only?: ReadonlyArray<Statement.Fragment>
  ) => Effect.Effect<PageOf<A>, never, CurrentActor>
  readonly insert: (record: A) => Effect.Effect<void, E, CurrentActor>
  /**
   * Changes a record by a rule that gets the locked row, so that no concurrent change is lost. Writes nothing if the
   * record stays the same. Undefined for an unknown id.
   */
  readonly change: <E2, R>(
    id: string,
    rule: (before: A) => Effect.Effect<A, E2, R>
  ) => Effect.Effect<A | undefined, E | E2, CurrentActor | R>
  /** False for an unknown id. */
  readonly remove: (id: string) => Effect.Effect<boolean, E, CurrentActor>
}

interface StoredRecord {
  readonly id: string
  readonly organizationId: string
}

/** `orError` translates violated constraints; it dies of any other failure of a statement. */
export const recordRepo = <A extends StoredRecord, E>(
  sql: SqlClient.SqlClient,
  source: RecordSource,
  orError: (error: SqlError.SqlError) => Effect.Effect<never, E>
): RecordRepo<A, E> => {
  const { alsoLocked = "false", changes, entityType, fields, table } = source
  const columns = columnsOf(fields, undefined, source.expressions)
  const stored = Object.keys(fields).map(String.camelToSnake).join(", ")

  /** PostgreSQL converts each value of the JSON object to the type of its column. */
  const valuesOf = (record: A) => {
    const row = Object.fromEntries(Object.entries(record).map(([field, value]) => [String.camelToSnake(field), value]))
    return sql`select ${sql.literal(stored)}
      from jsonb_populate_record(null::${sql(table)}, ${JSON.stringify(row)}::jsonb)`
  }

  const recorded = (type: ChangeType, payload: A, before: A | null) =>
    Effect.map(
      CurrentActor,
      (actor) =>
        sql`event as (${changeLogInsert(sql, actor, [{ type, entityType, entityId: payload.id, payload, before }])})${
          idempotencyRecord(sql, actor)
        }`
    )

  return {
    find: Effect.fn("RecordRepo.find")(function*(id: string) {
      const rows = yield* sql<A>`select ${sql.literal(columns)} from ${sql(table)}
        where id = ${id}::uuid and organization_id = ${yield* currentOrganization}`
      return rows[0]
    }, Effect.orDie),
    list: Effect.fn("RecordRepo.list")((page: PageRequest, only: ReadonlyArray<Statement.Fragment> = []) =>
      Effect.orDie(ownPage<A>(sql, { table, columns, order: source.order }, page, only))
    ),
    insert: Effect.fn("RecordRepo.insert")(function*(record: A) {
      const { organizationId } = yield* CurrentActor
      yield* sql`with ${yield* recorded(changes.create, record, null)}
        insert into ${sql(table)} (${sql.literal(stored)}) ${valuesOf({ ...record, organizationId })}`
    }, Effect.catchTag("SqlError", orError)),
    change: Effect.fn("RecordRepo.change")(
      function*<E2, R>(id: string, rule: (before: A) => Effect.Effect<A, E2, R>) {
        const organization = yield* currentOrganization
        const rows = yield* sql<A>`select ${sql.literal(columns)} from ${sql(table)}
          where organization_id = ${organization} and (id = ${id}::uuid or ${sql.literal(alsoLocked)})
          order by id for update`
        const before = rows.find((row) => row.id === id)
        if (before === undefined) return undefined
        const after = yield* rule(before)
        if (isSameRecord(before, after)) return before
        yield* sql`with ${yield* recorded(changes.update, after, before)}
          update ${sql(table)} set (${sql.literal(stored)}) = (${valuesOf(after)})
          where id = ${id}::uuid and organization_id = ${organization}`
        return after
      },
      sql.withTransaction,
      Effect.catchIf(SqlError.isSqlError, orError)
    ),
    remove: Effect.fn("RecordRepo.remove")((id: string) =>
      deleteRecorded(sql, { table, columns }, id, (payload: A) => ({
        type: changes.delete,
        entityType,
        entityId: payload.id,
        payload,
        before: payload
      })).pipe(
        Effect.map((deleted) => deleted !== undefined),
        Effect.catchTag("SqlError", orError)
      )
    )
  }
}
