import { Effect } from "effect"
import { type SqlClient, SqlError, type Statement } from "effect/sql"
import { CurrentActor, currentOrganization } from "../access/Actor.ts"
import { changeLogInsert, deleteRecorded } from "../events/ChangeLogRepo.ts"
import { type Change, type ChangeType, isSameRecord, type Subject } from "../events/Event.ts"
import { idempotencyRecord } from "../idempotency/IdempotencyRecordRepo.ts"
import { type Counted, ownPage } from "../paging/OwnPageRepo.ts"
import type { PageOf, PageRequest } from "../paging/Paging.ts"
import type { Table } from "../records/Table.ts"

export interface RecordSource<A extends object> {
  readonly table: Table<A>
  readonly order: string
  readonly counted?: "all"
  readonly entityType: Subject
  readonly changes: { readonly create: ChangeType; readonly update: ChangeType; readonly delete: ChangeType }
  /** Condition of other rows that a change locks, in the order of their ids. */
  readonly alsoLocked?: string
  readonly entityId?: (record: A) => string
}

/**
 * Records of the request's organization; a change writes its change log entry in its transaction. `only` narrows them.
 */
export interface RecordRepo<A extends StoredRecord, E> {
  readonly find: (
    id: A["id"],
    ...only: ReadonlyArray<Statement.Fragment>
  ) => Effect.Effect<A | undefined, never, CurrentActor>
  readonly list: (
    page: PageRequest,
    only?: ReadonlyArray<Statement.Fragment>,
    counted?: Counted
  ) => Effect.Effect<PageOf<A>, never, CurrentActor>
  readonly insert: (record: A) => Effect.Effect<void, E, CurrentActor>
  /**
   * The rule gets the locked row, so no concurrent change is lost. Writes nothing if the record stays the same.
   * Undefined for an unknown id.
   */
  readonly change: <E2, R>(
    id: A["id"],
    rule: (before: A) => Effect.Effect<A, E2, R>,
    ...only: ReadonlyArray<Statement.Fragment>
  ) => Effect.Effect<A | undefined, E | E2, CurrentActor | R>
  readonly remove: (
    id: A["id"],
    ...only: ReadonlyArray<Statement.Fragment>
  ) => Effect.Effect<boolean, E, CurrentActor>
}

interface StoredRecord {
  readonly id: string
  readonly organizationId: string
}

const listOf = <A extends StoredRecord>(
  sql: SqlClient.SqlClient,
  { counted: all, order, table }: RecordSource<A>
): RecordRepo<A, never>["list"] =>
  Effect.fn("RecordRepo.list")((page, only = [], counted = only.length === 0 ? all : undefined) =>
    Effect.orDie(ownPage(sql, table, order, page, only, counted))
  )

/** `orError` translates violated constraints; other failures are defects. */
export const recordRepo = <A extends StoredRecord, E>(
  sql: SqlClient.SqlClient,
  source: RecordSource<A>,
  orError: (error: SqlError.SqlError) => Effect.Effect<never, E>
): RecordRepo<A, E> => {
  const { alsoLocked = "false", changes, entityId = ({ id }) => id, entityType, table } = source
  const columns = table.columns()
  const rows = table.rows(sql)
  const [name, stored] = [sql(table.name), sql.literal(table.names)]

  const changeOf = (type: ChangeType, payload: A, before: A | null): Change => ({
    type,
    entityType,
    entityId: entityId(payload),
    payload,
    before
  })
  const recorded = (type: ChangeType, payload: A, before: A | null) =>
    Effect.map(
      CurrentActor,
      (actor) =>
        sql`event as (${changeLogInsert(sql, actor, [changeOf(type, payload, before)])})${
          idempotencyRecord(sql, actor)
        }`
    )

  return {
    find: Effect.fn("RecordRepo.find")(function*(id: A["id"], ...only: ReadonlyArray<Statement.Fragment>) {
      const [found] = yield* rows`select ${sql.literal(columns)} from ${name}
        where ${sql.and([sql`id = ${id}::uuid`, sql`organization_id = ${yield* currentOrganization}`, ...only])}`
      return found
    }, Effect.orDie),
    list: listOf(sql, source),
    insert: Effect.fn("RecordRepo.insert")(function*(record: A) {
      const { organizationId } = yield* CurrentActor
      yield* sql`with ${yield* recorded(changes.create, record, null)}
        insert into ${name} (${stored}) ${table.values(sql, [{ ...record, organizationId }])}`
    }, Effect.catchTag("SqlError", orError)),
    change: Effect.fn("RecordRepo.change")(
      function*<E2, R>(
        id: A["id"],
        rule: (before: A) => Effect.Effect<A, E2, R>,
        ...only: ReadonlyArray<Statement.Fragment>
      ) {
        const organization = yield* currentOrganization
        const locked = yield* rows`select ${sql.literal(columns)} from ${name}
          where organization_id = ${organization} and (id = ${id}::uuid or ${sql.literal(alsoLocked)})
            and ${only.length === 0 ? sql.literal("true") : sql.and(only)}
          order by id for update`
        const before = locked.find((row) => row.id === id)
        if (before === undefined) return undefined
        const after = yield* rule(before)
        if (isSameRecord(before, after)) return before
        yield* sql`with ${yield* recorded(changes.update, after, before)}
          update ${name} set (${stored}) = (${table.values(sql, [after])})
          where id = ${id}::uuid and organization_id = ${organization}`
        return after
      },
      sql.withTransaction,
      Effect.catchIf(SqlError.isSqlError, orError)
    ),
    remove: Effect.fn("RecordRepo.remove")((id: A["id"], ...only: ReadonlyArray<Statement.Fragment>) =>
      deleteRecorded(sql, table, id, (gone: A) => changeOf(changes.delete, gone, gone), ...only).pipe(
        Effect.map((deleted) => deleted !== undefined),
        Effect.catchTag("SqlError", orError)
      )
    )
  }
}
