import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { announcedNames, type EventNotice } from "./EventSubscribers.ts"

export type Emit = (events: ReadonlyArray<EventNotice>) => Effect.Effect<void>

export interface BatchLimit {
  readonly entries: number
  readonly bytes: number
}

interface End {
  readonly position: number
  readonly sequence: number
}

interface Cursor extends End {
  readonly organizationId: string
}

type Waiting = Pick<EventNotice, "id" | "organizationId" | "type">

/**
 * Reads after the cursors are locked: entries that another relay has positioned do not count. Decompresses no record.
 */
const waiting = (sql: SqlClient.SqlClient, organizations: ReadonlyArray<string>, { bytes, entries }: BatchLimit) => {
  const next = sql`position is null and organization_id = any(${organizations}::text[])`
  return sql<Waiting>`select id, organization_id as "organizationId", type from outbox_events
    where ${next} and entry_number <= (select max(entry_number)
      from (select entry_number, sum(size) over (order by entry_number) - size as ahead
        from (select entry_number, pg_column_size(payload) + coalesce(pg_column_size(before), 0) as size
          from outbox_events where ${next} order by entry_number limit ${entries}) waiting) sized
      where ahead < ${bytes}::bigint)
    order by entry_number limit ${entries}`
}

/** Locks cursors in order, against deadlocks; creates missing ones. */
const lockCursors = (sql: SqlClient.SqlClient, limit: number) =>
  sql<Cursor>`insert into outbox_cursors as h (organization_id)
    select distinct organization_id from (select organization_id from outbox_events where position is null
      order by entry_number limit ${limit}) next order by organization_id
    on conflict (organization_id) do update set organization_id = excluded.organization_id
    returning organization_id as "organizationId", position::float8 as position, event_sequence::float8 as sequence`

interface PositionedRow extends End {
  readonly id: string
  readonly announced: boolean
}

interface Batch {
  readonly placed: ReadonlyArray<PositionedRow>
  readonly events: ReadonlyArray<EventNotice>
  readonly cursors: ReadonlyArray<End & { readonly organization: string; readonly from: number }>
}

const number = (
  cursors: ReadonlyArray<Cursor>,
  rows: ReadonlyArray<Waiting>,
  announces: ReadonlySet<string>
): Batch => {
  const last = new Map<string, End>(cursors.map(({ organizationId, ...end }) => [organizationId, end]))
  const placed: Array<PositionedRow> = []
  const events: Array<EventNotice> = []
  for (const { id, organizationId, type } of rows) {
    const before = last.get(organizationId)
    if (before === undefined) continue
    const announced = announces.has(type)
    const end = { position: before.position + 1, sequence: before.sequence + (announced ? 1 : 0) }
    last.set(organizationId, end)
    placed.push({ ...end, id, announced })
    if (announced) events.push({ organizationId, sequence: end.sequence, id, type })
  }
  const moved = cursors.flatMap(({ organizationId: organization, position: from }) => {
    const end = last.get(organization)
    return end === undefined || end.position === from ? [] : [{ ...end, organization, from }]
  })
  return { placed, events, cursors: moved }
}

/** One statement; the counts reveal rows that it could not write. */
const place = (sql: SqlClient.SqlClient, { cursors, placed }: Batch) =>
  sql<{ readonly entries: number; readonly cursors: number }>`with
    input as materialized (select * from jsonb_to_recordset(${JSON.stringify(placed)}::jsonb)
      as i(id uuid, position bigint, sequence bigint, announced boolean)),
    placed as (update outbox_events e set position = i.position,
        event_sequence = case when i.announced then i.sequence end
      from input i where e.id = any(array(select id from input)) and e.id = i.id and e.position is null returning 1),
    moved as (update outbox_cursors h set position = m.position, event_sequence = m.sequence
      from jsonb_to_recordset(${JSON.stringify(cursors)}::jsonb)
        as m(organization text, "from" bigint, position bigint, sequence bigint)
      where h.organization_id = m.organization and h.position = m."from" returning 1)
    select (select count(*) from placed)::int as entries, (select count(*) from moved)::int as cursors`

export class RelayStatements extends Context.Service<RelayStatements>()("stoa/domain/platform/events/RelayStatements", {
  make: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const announces = yield* announcedNames
    const inTransaction = Effect.fnUntraced(function*(limit: BatchLimit, emit: Emit) {
      const cursors = yield* lockCursors(sql, limit.entries)
      if (cursors.length === 0) return 0
      const rows = yield* waiting(sql, cursors.map(({ organizationId }) => organizationId), limit)
      if (rows.length === 0) return 0
      const batch = number(cursors, rows, announces)
      const [written] = yield* place(sql, batch)
      if (written?.entries !== rows.length || written.cursors !== batch.cursors.length) {
        return yield* Effect.die(
          new Error("The change log was written by another process despite the lock of its cursor.")
        )
      }
      if (batch.events.length > 0) yield* emit(batch.events)
      return rows.length
    })

    return {
      waits: sql`select 1 from outbox_events where position is null order by entry_number limit 1`.pipe(
        Effect.map((rows) => rows.length > 0),
        Effect.orDie
      ),
      /** Tells writers to notify the channel `stoa_change_log`, or not to. */
      rest: Effect.fn("RelayStatements.rest")(
        (resting: boolean) => sql`update outbox_relay set resting = ${resting} where resting <> ${resting}`,
        Effect.asVoid,
        Effect.orDie
      ),
      /**
       * Positions the oldest waiting entries and emits the events among them in one transaction. Returns the number of
       * entries. Two relays take turns per organization.
       */
      assignPositions: Effect.fn("RelayStatements.assignPositions")(
        (limit: BatchLimit, emit: Emit) => sql.withTransaction(inTransaction(limit, emit)),
        Effect.orDie
      )
    }
  })
}) {
  static readonly layer = Layer.effect(RelayStatements, RelayStatements.make)
}
