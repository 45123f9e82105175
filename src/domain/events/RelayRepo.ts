import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { announcedNames } from "./DeclaredEvents.ts"
import type { EventNotice } from "./EventSubscribers.ts"

/** Handles the events of a batch before it is committed. */
export type Tell = (events: ReadonlyArray<EventNotice>) => Effect.Effect<void>

/** Limits of a batch. The first entry is taken however large it is. */
export interface BatchLimit {
  readonly entries: number
  /** Stored bytes of the records before and after the changes, compressed where the database compresses them. */
  readonly bytes: number
}

/** Assigns positions to entries of the change log. */
export class RelayRepo extends Context.Service<RelayRepo, {
  /** Whether an entry waits for its position. */
  readonly waits: Effect.Effect<boolean>
  /**
   * Assigns the oldest waiting entries, within the limit, their positions in the change logs of their organizations and
   * passes the events among them on, in one transaction. Returns the number of entries. Two relays take turns per
   * organization.
   */
  readonly assignPositions: (limit: BatchLimit, tell: Tell) => Effect.Effect<number>
}>()("stoa/domain/events/RelayRepo") {}

interface HeadRow {
  readonly organization_id: string
  readonly position: bigint
  readonly event_sequence: bigint
}

/** The head of an organization's change log. */
interface End {
  readonly position: number
  readonly sequence: number
}

interface WaitingRow {
  readonly id: string
  readonly organization_id: string
  readonly type: string
}

/**
 * Reads after the heads are locked, so that entries which another relay has just positioned do not count as waiting.
 * Adds up the sizes without decompressing a record.
 */
const waiting = (sql: SqlClient.SqlClient, organizations: ReadonlyArray<string>, { bytes, entries }: BatchLimit) => {
  const next = sql`position is null and organization_id = any(${organizations}::text[])`
  return sql<
    WaitingRow
  >`select id, organization_id, type from outbox_events where ${next} and entry_number <= (select max(entry_number)
      from (select entry_number, sum(size) over (order by entry_number) - size as ahead
        from (select entry_number, pg_column_size(payload) + coalesce(pg_column_size(before), 0) as size
          from outbox_events where ${next} order by entry_number limit ${entries}) waiting) sized
      where ahead < ${bytes}::bigint)
    order by entry_number limit ${entries}`
}

/**
 * Locks the heads of the organizations whose entries are next, ordered by name against deadlocks; creates missing
 * heads.
 */
const lockHeads = (sql: SqlClient.SqlClient, limit: number) =>
  sql<HeadRow>`insert into outbox_cursors as h (organization_id)
    select distinct organization_id from (select organization_id from outbox_events where position is null
      order by entry_number limit ${limit}) next order by organization_id
    on conflict (organization_id) do update set organization_id = excluded.organization_id
    returning organization_id, position, event_sequence`

interface PositionedRow extends End {
  readonly id: string
  readonly announced: boolean
}

interface Batch {
  readonly placed: ReadonlyArray<PositionedRow>
  readonly events: ReadonlyArray<EventNotice>
  readonly heads: ReadonlyArray<End & { readonly organization: string; readonly from: number }>
}

/** Continues the numbers of the heads. */
const number = (
  heads: ReadonlyArray<HeadRow>,
  rows: ReadonlyArray<WaitingRow>,
  announces: ReadonlySet<string>
): Batch => {
  const first = new Map(heads.map((head) => [head.organization_id, {
    position: Number(head.position),
    sequence: Number(head.event_sequence)
  }]))
  const last = new Map<string, End>(first)
  const placed: Array<PositionedRow> = []
  const events: Array<EventNotice> = []
  for (const row of rows) {
    const { id, organization_id: organizationId, type } = row
    const before = last.get(organizationId)
    // Only organizations whose heads are locked were read.
    if (before === undefined) continue
    const announced = announces.has(type)
    const link = { position: before.position + 1, sequence: before.sequence + (announced ? 1 : 0) }
    last.set(organizationId, link)
    placed.push({ ...link, id, announced })
    if (announced) events.push({ organizationId, sequence: link.sequence, id, type })
  }
  const moved = [...last].flatMap(([organization, link]) => {
    const from = first.get(organization)?.position ?? 0
    return link.position === from ? [] : [{ ...link, organization, from }]
  })
  return { placed, events, heads: moved }
}

/** Writes the positions and the new heads in one statement; the counts reveal rows that it could not write. */
const place = (sql: SqlClient.SqlClient, { heads, placed }: Batch) =>
  sql<{ readonly entries: number; readonly heads: number }>`with
    input as materialized (select * from jsonb_to_recordset(${JSON.stringify(placed)}::jsonb)
      as i(id uuid, position bigint, sequence bigint, announced boolean)),
    placed as (update outbox_events e set position = i.position,
        event_sequence = case when i.announced then i.sequence end
      from input i where e.id = any(array(select id from input)) and e.id = i.id and e.position is null returning 1),
    moved as (update outbox_cursors h set position = m.position, event_sequence = m.sequence
      from jsonb_to_recordset(${JSON.stringify(heads)}::jsonb)
        as m(organization text, "from" bigint, position bigint, sequence bigint)
      where h.organization_id = m.organization and h.position = m."from" returning 1)
    select (select count(*) from placed)::int as entries, (select count(*) from moved)::int as heads`

/** `RelayRepo` over the database of the process. */
export const relayRepoLayer = Layer.effect(
  RelayRepo,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const announces = yield* announcedNames
    const inTransaction = Effect.fnUntraced(function*(limit: BatchLimit, tell: Tell) {
      const heads = yield* lockHeads(sql, limit.entries)
      if (heads.length === 0) return 0
      const rows = yield* waiting(sql, heads.map((head) => head.organization_id), limit)
      if (rows.length === 0) return 0
      const batch = number(heads, rows, announces)
      const [written] = yield* place(sql, batch)
      if (written?.entries !== rows.length || written.heads !== batch.heads.length) {
        return yield* Effect.die(
          new Error("The change log was written by another process behind the lock of its head.")
        )
      }
      if (batch.events.length > 0) yield* tell(batch.events)
      return rows.length
    })

    return RelayRepo.of({
      waits: sql`select 1 from outbox_events where position is null order by entry_number limit 1`.pipe(
        Effect.map((rows) => rows.length > 0),
        Effect.orDie
      ),
      assignPositions: Effect.fn("RelayRepo.seal")(
        (limit: BatchLimit, tell: Tell) => sql.withTransaction(inTransaction(limit, tell)),
        Effect.orDie
      )
    })
  })
)
