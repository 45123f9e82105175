import { Effect, Schema, String } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { type Actor, CurrentActor } from "../access/Actor.ts"
import { idempotencyRecord } from "../idempotency/IdempotencyRecordRepo.ts"
import { newId, Uuid } from "../ids/Id.ts"
import { Table } from "../records/Table.ts"
import { Time } from "../text/Time.ts"
import { type Change, type ChangeType, isChange, maySetTheSame, type Subject } from "./Event.ts"

const written = {
  id: Uuid,
  organizationId: Schema.String,
  type: Schema.String,
  entityType: Schema.String,
  entityId: Schema.String,
  payload: Schema.Unknown,
  before: Schema.Unknown,
  actorId: Schema.NullOr(Schema.String),
  actorType: Schema.Literals(["user", "api_key"]),
  requestId: Schema.NullOr(Schema.String),
  ip: Schema.NullOr(Schema.String),
  userAgent: Schema.NullOr(Schema.String),
  source: Schema.Literals(["rest", "local", "job"])
}

const ChangeLogEntry = Schema.Struct({
  ...written,
  createdAt: Time,
  position: Schema.NullOr(Schema.Int),
  eventSequence: Schema.NullOr(Schema.Int)
})

export const changeLogEntries = new Table("outbox_events", ChangeLogEntry, {
  casts: { position: "float8", eventSequence: "float8" }
})

const columns = Object.keys(written).map(String.camelToSnake).join(", ")

/** The table with the columns of an entry, in their order. */
export const changeLogTable = `outbox_events (${columns})`

export const changeLog = (sql: SqlClient.SqlClient) => sql.literal(changeLogTable)

/** The last six columns, for one actor; `id` is SQL where rows name the actor. */
export const byActor = (sql: SqlClient.SqlClient, actor: Actor, id?: string) =>
  sql`${id === undefined ? sql`${actor.userId ?? actor.keyId ?? null}::text` : sql.literal(id)}, ${actor.type}::text,
    ${actor.requestId}::text, ${actor.ip ?? null}::text, ${actor.userAgent ?? null}::text, ${
    actor.source ?? "local"
  }::text`

export const originOf = (actor: Actor) => ({
  id: actor.userId ?? actor.keyId ?? null,
  type: actor.type,
  request: actor.requestId,
  ip: actor.ip ?? null,
  agent: actor.userAgent ?? null,
  source: actor.source ?? "local"
})

/** Reads `originOf` back from column `origin` of an input `i`. */
export const byOrigin = (sql: SqlClient.SqlClient) =>
  sql.literal(`i.origin->>'id', i.origin->>'type', i.origin->>'request', i.origin->>'ip', i.origin->>'agent',
    i.origin->>'source'`)

/**
 * Writes entries within the statement of the changes, `with e as (${…})`. The relay assigns positions after commit: a
 * counter here would serialize an organization's writers. `guard` names the part that must have written a row.
 * Unchanged records (`isChange`) get no entry.
 */
export const changeLogInsert = (
  sql: SqlClient.SqlClient,
  actor: Actor,
  changes: ReadonlyArray<Change>,
  guard?: string
) =>
  sql`insert into ${changeLog(sql)}
    select (o->>'id')::uuid, ${actor.organizationId}, o->>'type', o->>'entityType', o->>'entityId', o->'payload',
      nullif(o->'before', 'null'), ${byActor(sql, actor)}
    from jsonb_array_elements(${
    JSON.stringify(changes.filter(isChange).map((change) => ({ id: newId(), ...change })))
  }::jsonb) o
    ${guard === undefined ? sql.literal("") : sql.literal(`where exists (select 1 from ${guard})`)}`

/** Writes entries in a separate statement. */
export const recordChange = Effect.fnUntraced(
  function*(sql: SqlClient.SqlClient, ...changes: ReadonlyArray<Change>) {
    yield* sql`with entry as (${changeLogInsert(sql, yield* CurrentActor, changes)}) select 1`
  }
)

/** A change as SQL over the rows of `from`, one entry per row. */
export interface Written {
  readonly type: ChangeType | { readonly sql: string }
  readonly entityType: Subject
  readonly entityId: string
  readonly payload: string | Statement.Fragment
  readonly before?: string | Statement.Fragment | undefined
  readonly from: string
  /** Condition for an entry; absent: all rows. */
  readonly only?: string | undefined
  /** Where rows name another actor and organization than the request. */
  readonly actorId?: string | undefined
  readonly organizationId?: string | undefined
}

const fragment = (sql: SqlClient.SqlClient, text: string | Statement.Fragment) =>
  typeof text === "string" ? sql.literal(text) : text

const ifChanged = (sql: SqlClient.SqlClient, { before, only, payload, type }: Written) =>
  only !== undefined
    ? sql.literal(`where ${only}`)
    : before === undefined || (typeof type === "string" && !maySetTheSame(type))
    ? sql.literal("")
    : sql`where ((${fragment(sql, payload)}) - 'updatedAt') is distinct from ((${fragment(sql, before)}) - 'updatedAt')`

export const changeLogRows = (sql: SqlClient.SqlClient, actor: Actor, written: Written) =>
  sql`insert into ${changeLog(sql)}
    select gen_random_uuid(), ${sql`coalesce(${
    sql.literal(written.organizationId ?? "null")
  }, ${actor.organizationId})`},
      ${typeof written.type === "string" ? sql`${written.type}::text` : sql.literal(written.type.sql)},
      ${written.entityType}::text, ${sql.literal(written.entityId)}, ${fragment(sql, written.payload)},
      ${fragment(sql, written.before ?? "null::jsonb")}, ${byActor(sql, actor, written.actorId)}
    from ${sql.literal(written.from)} ${ifChanged(sql, written)}`

/** SQL of a time as the API formats it: ISO 8601, milliseconds, Z. */
export const isoTime = (column: string) => `to_char(${column} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/** Deletes a row by id, with its change log entry and idempotency record. Returns the row, or undefined without one. */
export const deleteRecorded = <A extends object>(
  sql: SqlClient.SqlClient,
  table: Table<A>,
  id: string,
  recorded: (deleted: A) => Change,
  ...only: ReadonlyArray<Statement.Fragment>
) =>
  sql.withTransaction(Effect.gen(function*() {
    const actor = yield* CurrentActor
    const [row] = yield* table.rows(sql)`delete from ${sql(table.name)}
      where ${sql.and([sql`id = ${id}::uuid`, sql`organization_id = ${actor.organizationId}`, ...only])}
      returning ${sql.literal(table.columns())}`
    if (row !== undefined) {
      yield* sql`with event as (${changeLogInsert(sql, actor, [recorded(row)])})${
        idempotencyRecord(sql, actor)
      } select 1`
    }
    return row
  }))
