import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { CurrentActor } from "../../../domain/platform/access/Actor.ts"
import type {
  Conflict,
  InvalidTransition,
  NotFound,
  ValidationFailed
} from "../../../domain/platform/errors/ApiErrors.ts"
import { newId } from "../../../domain/platform/ids/Id.ts"
import { refusedBy, sqlStates } from "../../../domain/platform/records/Constraints.ts"
import type { Keyring } from "../../../domain/webhooks/SecretEncryption.ts"
import type { Listing } from "./Listing.ts"
import { boundsFor } from "./RowBounds.ts"
import { columnName, type RowOf, type Table } from "./Table.ts"
import { inTurnOf } from "./TableBoundsRepo.ts"
import { notInState, RowNotFound, type TableHandle } from "./TableHandle.ts"
import { readsOf, whichOf } from "./TableReadsRepo.ts"
import { ParentNotFound, refusalOf, RowReferred, RowTaken, TooManyRows } from "./TableRefusals.ts"
import { rowReader } from "./TableRowsRepo.ts"
import { secretsOf } from "./TableSecrets.ts"
import { conflictTarget } from "./TableSql.ts"
import { whereSql, type Which } from "./TableWhereRepo.ts"
import { type Context, deleteSql, insertSql, own, updateEachSql, updateSql, type Values } from "./TableWritesRepo.ts"

/** What the handles of a plugin have in common. */
export interface HandleTools {
  readonly sql: SqlClient.SqlClient
  /** Prefix of the types of their changes. */
  readonly plugin: string
  /** For secrets. */
  readonly keyring: Keyring | undefined
  /** Lists that show the table. */
  readonly lists?: ReadonlyArray<Listing> | undefined
}

/** A handle's parts share these. */
interface Parts<T> extends Context {
  readonly rowOf: (row: Values) => RowOf<T>
  readonly refused: ReturnType<typeof refusalOf>
  readonly secrets: ReturnType<typeof secretsOf>
}

const insertsOf = <T extends Table>(parts: Parts<T>) => {
  const { refused, rowOf, secrets, table } = parts
  const tooMany = Effect.map(
    CurrentActor,
    (actor) => new TooManyRows(boundsFor(table, actor).map(({ refusal }) => refusal).join(" "))
  )

  const insertAll = Effect.fnUntraced(function*(rows: ReadonlyArray<Values>, target?: string) {
    const actor = yield* CurrentActor
    const given = rows.map((row) => {
      const id = String(row["id"] ?? newId()).toLowerCase()
      return { ...secrets.encrypt({ organizationId: actor.organizationId, id }, row), id }
    })
    const bounds = boundsFor(table, actor)
    const inserted = insertSql(parts, actor, given, bounds, target)
    const made = yield* Effect.catch(
      inTurnOf(parts.sql, table, bounds, actor.organizationId, given, inserted),
      refused
    )
    const byId = new Map(made.map((row) => [row["id"], rowOf(row)]))
    return given.flatMap(({ id }) => byId.get(id) ?? [])
  })
  const insertMany: TableHandle<T>["insertMany"] = Effect.fnUntraced(function*(rows) {
    if (rows.length === 0) return []
    const made = yield* insertAll(rows.map((row) => ({ ...row })))
    if (made.length === rows.length) return made
    return yield* table.parent === undefined ? yield* tooMany : new ParentNotFound(table.parent.column)
  })
  const insert: TableHandle<T>["insert"] = (row) =>
    Effect.flatMap(insertMany([row]), ([made]) => made === undefined ? Effect.die("no row") : Effect.succeed(made))
  return { insertAll, insertMany, insert, tooMany }
}

const updatesOf = <T extends Table>(parts: Parts<T>) => {
  const { refused, rowOf, secrets, sql, table } = parts

  /** Runs an update; 422 when it names a parent that the organization does not have. */
  const updated = Effect.fnUntraced(function*(statement: ReturnType<typeof updateSql>) {
    const rows = yield* Effect.catch(statement, refused)
    return rows[0]?.["_within"] === false ? yield* new ParentNotFound(table.parent?.column ?? "") : rows
  })

  const updateAll = Effect.fnUntraced(function*(where: Parameters<typeof updateSql>[3], change: Values) {
    secrets.refuse(change)
    const actor = yield* CurrentActor
    return (yield* updated(updateSql(parts, actor, change, where, []))).map(rowOf)
  })
  const updateOne = Effect.fnUntraced(function*(which: Values, change: Values, only: Values) {
    const actor = yield* CurrentActor
    const owner = { organizationId: actor.organizationId, id: String(which["id"]).toLowerCase() }
    const statement = updateSql(
      parts,
      actor,
      secrets.encrypt(owner, change),
      whereSql(sql, table, which),
      whereSql(sql, table, only, "old")
    )
    const [found] = yield* updated(statement)
    if (found === undefined) return yield* new RowNotFound()
    const row = rowOf(found)
    return found["_changed"] === true ? row : yield* notInState(row, change, only)
  })
  type Updated<E> = Effect.Effect<RowOf<T>, NotFound | Conflict | ValidationFailed | E, CurrentActor>
  function update(which: Which<T>, change: object): Updated<never>
  function update(which: Which<T>, change: object, only: object): Updated<InvalidTransition>
  function update(which: Which<T>, change: object, only: object = {}): Updated<InvalidTransition> {
    return updateOne(whichOf(which), { ...change }, { ...only })
  }
  const updateMany: TableHandle<T>["updateMany"] = (where, change) =>
    updateAll(whereSql(sql, table, { ...where }), { ...change })
  const updateEach: TableHandle<T>["updateEach"] = Effect.fnUntraced(function*(given) {
    if (given.length === 0) return []
    const rows = given.map((row): Values => ({ ...row, id: row.id.toLowerCase() }))
    for (const row of rows) {
      secrets.refuse(row)
      if (table.parent !== undefined && row[table.parent.column] !== undefined) {
        return yield* Effect.die(new Error(`updateEach of "${table.name}" moves no row to another parent.`))
      }
    }
    const actor = yield* CurrentActor
    const made = yield* Effect.catch(updateEachSql(parts, actor, rows), refused)
    if (made.length < rows.length) return yield* new RowNotFound()
    const byId = new Map(made.map((row) => [row["id"], rowOf(row)]))
    return rows.flatMap(({ id }) => byId.get(id) ?? [])
  })
  return { updateAll, update, updateMany, updateEach }
}

const upsertOf = <T extends Table>(
  { secrets, sql, table }: Parts<T>,
  { insertAll, tooMany }: ReturnType<typeof insertsOf<T>>,
  { updateAll }: ReturnType<typeof updatesOf<T>>
): TableHandle<T>["upsert"] =>
  Effect.fnUntraced(function*(given, on) {
    const row: Values = { ...given }
    secrets.refuse(row)
    const { target, where } = conflictTarget(table, on)
    const key = on.map((name) => [name, row[name]] as const)
    if (key.some(([, value]) => value === undefined)) {
      return yield* Effect.die(new Error(`An upsert of "${table.name}" names ${on.join(", ")}.`))
    }
    const change = Object.fromEntries(Object.entries(row).filter(([name]) => name !== "id" && !on.includes(name)))
    const same = [
      ...whereSql(sql, table, Object.fromEntries(key)),
      ...(where === undefined ? [] : [sql.literal(`(${where})`)])
    ]
    // A row that goes between the two is inserted by the second round; one that is another organization's stays in the way.
    for (const _ of [1, 2]) {
      const [made] = yield* insertAll([row], target)
      if (made !== undefined) return { row: made, created: true }
      const [changed] = yield* updateAll(same, change)
      if (changed !== undefined) return { row: changed, created: false }
    }
    const bounds = boundsFor(table, yield* CurrentActor)
    return yield* bounds.length === 0 ? new RowTaken(on) : yield* tooMany
  })

/** Rows of a table of a plugin's. */
export const tableHandle = <T extends Table>(
  { keyring, lists, plugin, sql }: HandleTools,
  table: T
): TableHandle<T> => {
  const read = rowReader(table)
  const parts: Parts<T> = {
    sql,
    table,
    subject: `${plugin}/${table.name}`,
    // The columns of a row are those that its type was made of.
    rowOf: (row) => read(row) as RowOf<T>,
    // Made of the whole definition of the table, so only when there is something to say.
    refused: (error) => refusalOf(table)(error),
    secrets: secretsOf(table, keyring)
  }
  const referred = () => new RowReferred()
  const kept = refusedBy({ [sqlStates.foreignKey]: referred, [sqlStates.restrict]: referred })
  const remove: TableHandle<T>["delete"] = Effect.fnUntraced(function*(which) {
    const actor = yield* CurrentActor
    const [gone] = yield* Effect.catch(deleteSql(parts, actor, whereSql(sql, table, whichOf(which))), kept)
    return gone === undefined ? yield* new RowNotFound() : parts.rowOf(gone)
  })
  const secret: TableHandle<T>["secret"] = Effect.fnUntraced(function*(which, column) {
    const { organizationId } = yield* CurrentActor
    const [row] = yield* Effect.orDie(sql`select t.id, t.${sql.literal(columnName(column))} as value
      from ${sql(table.name)} t where ${
      sql.and([own(sql, table, organizationId), ...whereSql(sql, table, whichOf(which))])
    }`)
    if (row === undefined) return yield* new RowNotFound()
    const { id, value } = row
    return value === null ? null : parts.secrets.open({ organizationId, id: String(id) }, column, String(value))
  })
  const [inserts, updates] = [insertsOf(parts), updatesOf(parts)]
  return {
    ...readsOf<T>(parts, parts.rowOf, lists),
    insert: inserts.insert,
    insertMany: inserts.insertMany,
    upsert: upsertOf(parts, inserts, updates),
    update: updates.update,
    updateMany: updates.updateMany,
    updateEach: updates.updateEach,
    delete: remove,
    secret
  }
}
