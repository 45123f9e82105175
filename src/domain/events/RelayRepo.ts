import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type Link, linkAfter } from "./Chain.ts"
import { type EventType, eventTypes, type Subject } from "./Event.ts"
import type { SequencedEvent } from "./EventSubscribers.ts"

/** What is done with the events of a batch before it is committed. */
export type Tell = (events: ReadonlyArray<SequencedEvent>) => Effect.Effect<void>

/** Gives entries of the journal their places. */
export class RelayRepo extends Context.Service<RelayRepo, {
  /** Is there an entry without a place? */
  readonly waits: Effect.Effect<boolean>
  /**
   * Gives the oldest waiting entries, at most `limit`, their places in the chains of their organizations, and tells of
   * the events among them, all in one transaction. Gives how many. Two relays at once take turns organization by
   * organization: whoever has the row of its head goes on from where the other one ended.
   */
  readonly seal: (limit: number, tell: Tell) => Effect.Effect<number>
}>()("stoa/domain/events/RelayRepo") {}

interface HeadRow {
  readonly organization_id: string
  readonly position: bigint
  readonly hash: string
  readonly event_sequence: bigint
}

interface WaitingRow {
  readonly id: string
  readonly organization_id: string
  readonly type: string
  readonly entity_type: Subject
  readonly entity_id: string
  readonly payload: object | null
  readonly created_at: Date
  readonly actor_id: string | null
  readonly request_id: string | null
  readonly digest: string
}

const announcedNames: ReadonlySet<string> = new Set(eventTypes)

const isAnnounced = (type: string): type is EventType => announcedNames.has(type)

/** Reads behind the locks of the heads, so that what another relay has just placed is not seen as waiting. */
const waiting = (sql: SqlClient.SqlClient, organizations: ReadonlyArray<string>, limit: number) =>
  sql<WaitingRow>`select id, organization_id, type, entity_type, entity_id,
      case when type = any(${[...eventTypes]}::text[]) then payload end as payload, created_at, actor_id, request_id,
      encode(journal_written(e), 'hex') as digest
    from journal_entries e where position is null and organization_id = any(${organizations}::text[])
    order by entry_number limit ${limit}`

/** Locks the heads of the organizations whose entries are next, in the order of their names; makes missing ones. */
const lockHeads = (sql: SqlClient.SqlClient, limit: number) =>
  sql<HeadRow>`insert into journal_heads as h (organization_id)
    select distinct organization_id from (select organization_id from journal_entries where position is null
      order by entry_number limit ${limit}) next order by organization_id
    on conflict (organization_id) do update set organization_id = excluded.organization_id
    returning organization_id, position, encode(hash, 'hex') as hash, event_sequence`

interface Placed extends Link {
  readonly id: string
  readonly announced: boolean
}

interface Batch {
  readonly placed: ReadonlyArray<Placed>
  readonly events: ReadonlyArray<SequencedEvent>
  readonly heads: ReadonlyArray<Link & { readonly organization: string; readonly from: number }>
}

/** Chains the entries on to the heads. */
const chain = (heads: ReadonlyArray<HeadRow>, rows: ReadonlyArray<WaitingRow>): Batch => {
  const first = new Map(heads.map((head) => [head.organization_id, {
    position: Number(head.position),
    hash: head.hash,
    sequence: Number(head.event_sequence)
  }]))
  const last = new Map<string, Link>(first)
  const placed: Array<Placed> = []
  const events: Array<SequencedEvent> = []
  for (const row of rows) {
    const before = last.get(row.organization_id)
    // Only organizations whose heads are locked were asked for.
    if (before === undefined) continue
    const announced = isAnnounced(row.type)
    const link = linkAfter(before, row.digest, announced)
    last.set(row.organization_id, link)
    placed.push({ ...link, id: row.id, announced })
    if (isAnnounced(row.type)) events.push(toEvent(row, row.type, link.sequence))
  }
  const moved = [...last].flatMap(([organization, link]) => {
    const from = first.get(organization)?.position ?? 0
    return link.position === from ? [] : [{ ...link, organization, from }]
  })
  return { placed, events, heads: moved }
}

const toEvent = (row: WaitingRow, type: EventType, sequence: number): SequencedEvent => ({
  organizationId: row.organization_id,
  sequence,
  id: row.id,
  type,
  entityType: row.entity_type,
  entityId: row.entity_id,
  payload: row.payload ?? {},
  createdAt: row.created_at,
  actorId: row.actor_id,
  requestId: row.request_id
})

/** Writes the places and the new heads, in one statement; what it could not write shows in the counts. */
const place = (sql: SqlClient.SqlClient, { heads, placed }: Batch) =>
  sql<{ readonly entries: number; readonly heads: number }>`with
    input as materialized (select * from jsonb_to_recordset(${JSON.stringify(placed)}::jsonb)
      as i(id uuid, position bigint, hash text, sequence bigint, announced boolean)),
    placed as (update journal_entries e set position = i.position, hash = decode(i.hash, 'hex'),
        event_sequence = case when i.announced then i.sequence end
      from input i where e.id = any(array(select id from input)) and e.id = i.id and e.position is null returning 1),
    moved as (update journal_heads h set position = m.position, hash = decode(m.hash, 'hex'), event_sequence = m.sequence
      from jsonb_to_recordset(${JSON.stringify(heads)}::jsonb)
        as m(organization text, "from" bigint, position bigint, hash text, sequence bigint)
      where h.organization_id = m.organization and h.position = m."from" returning 1)
    select (select count(*) from placed)::int as entries, (select count(*) from moved)::int as heads`

/** `RelayRepo` over the database of the process. */
export const relayRepoLayer = Layer.effect(
  RelayRepo,
  Effect.map(SqlClient.SqlClient, (sql) => {
    const inTransaction = Effect.fnUntraced(function*(limit: number, tell: Tell) {
      const heads = yield* lockHeads(sql, limit)
      if (heads.length === 0) return 0
      const rows = yield* waiting(sql, heads.map((head) => head.organization_id), limit)
      if (rows.length === 0) return 0
      const batch = chain(heads, rows)
      const [written] = yield* place(sql, batch)
      if (written?.entries !== rows.length || written.heads !== batch.heads.length) {
        return yield* Effect.die(new Error("The journal was written by somebody else behind the lock of its head."))
      }
      if (batch.events.length > 0) yield* tell(batch.events)
      return rows.length
    })

    return RelayRepo.of({
      waits: sql`select 1 from journal_entries where position is null order by entry_number limit 1`.pipe(
        Effect.map((rows) => rows.length > 0),
        Effect.orDie
      ),
      seal: Effect.fn("RelayRepo.seal")(
        (limit: number, tell: Tell) => sql.withTransaction(inTransaction(limit, tell)),
        Effect.orDie
      )
    })
  })
)
