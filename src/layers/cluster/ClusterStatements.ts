import { Effect, Option } from "effect"
import { type EntityAddress, type Envelope, type Reply, ShardId } from "effect/cluster"
import type { SqlClient } from "effect/sql"

interface ClaimedRow {
  readonly id: bigint
  readonly shard_id: string
  readonly entity_type: string
  readonly entity_id: string
  readonly kind: number
  readonly tag: string | null
  readonly payload: string | null
  readonly headers: string | null
  readonly trace_id: string | null
  readonly span_id: string | null
  readonly sampled: boolean | null
  readonly request_id: bigint
  readonly reply_id: bigint | null
  readonly sent_id: bigint | null
  readonly sent_sequence: number | null
  readonly sent_payload: string | null
}

export interface ClaimedMessage {
  readonly envelope: Envelope.Encoded
  readonly lastSentReply: Option.Option<Reply.Encoded>
}

export interface NewRequest {
  readonly envelope: Envelope.PartialRequestEncoded
  readonly primaryKey: string
  /** Unix time in ms before which it is not delivered, or null. */
  readonly deliverAt: number | null
}

const messageKinds = { request: 0, acknowledgement: 1 } as const

const requestFromRow = (row: ClaimedRow, address: Envelope.Encoded["address"]): Envelope.Encoded => ({
  _tag: "Request",
  requestId: String(row.id),
  address,
  tag: row.tag ?? "",
  payload: JSON.parse(row.payload ?? "null"),
  headers: JSON.parse(row.headers ?? "{}"),
  ...(row.trace_id === null || row.span_id === null
    ? {}
    : { traceId: row.trace_id, spanId: row.span_id, sampled: row.sampled === true })
})

const lastSent = (row: ClaimedRow): Option.Option<Reply.Encoded> =>
  row.kind !== messageKinds.request || row.sent_id === null ? Option.none() : Option.some({
    _tag: "Chunk",
    id: String(row.sent_id),
    requestId: String(row.request_id),
    sequence: row.sent_sequence ?? 0,
    values: JSON.parse(row.sent_payload ?? "[]")
  })

export const fromRow = (row: ClaimedRow): ClaimedMessage => {
  const address = {
    shardId: ShardId.fromStringEncoded(row.shard_id),
    entityType: row.entity_type,
    entityId: row.entity_id
  }
  if (row.kind === messageKinds.request) return { envelope: requestFromRow(row, address), lastSentReply: lastSent(row) }
  const control = { id: String(row.id), requestId: String(row.request_id), address }
  return {
    envelope: row.kind === messageKinds.acknowledgement
      ? { _tag: "AckChunk", ...control, replyId: String(row.reply_id) }
      : { _tag: "Interrupt", ...control },
    lastSentReply: Option.none()
  }
}

/**
 * One array per column. Absent values are empty strings and -1, which `nullif` turns back: the driver cannot type an
 * array of nulls.
 */
const requestColumns = (requests: ReadonlyArray<NewRequest>) => {
  const column = <A>(value: (request: NewRequest) => A) => requests.map(value)
  return {
    id: column(({ envelope }) => envelope.requestId),
    messageId: column(({ primaryKey }) => primaryKey),
    shardId: column(({ envelope }) => ShardId.toString(envelope.address.shardId)),
    entityType: column(({ envelope }) => envelope.address.entityType),
    entityId: column(({ envelope }) => envelope.address.entityId),
    tag: column(({ envelope }) => envelope.tag),
    payload: column(({ envelope }) => JSON.stringify(envelope.payload) ?? ""),
    headers: column(({ envelope }) => JSON.stringify(envelope.headers)),
    traceId: column(({ envelope }) => envelope.traceId ?? ""),
    spanId: column(({ envelope }) => envelope.spanId ?? ""),
    sampled: column(({ envelope }) => envelope.sampled === undefined ? "" : String(envelope.sampled)),
    deliverAt: column(({ deliverAt }) => String(deliverAt ?? -1))
  }
}

/**
 * Inserts requests with new keys and returns their ids. Inserts in key order, against deadlocks of two runners;
 * `rowid`, the delivery order, follows the order of arrival.
 */
const insertRequests = (sql: SqlClient.SqlClient) => (requests: ReadonlyArray<NewRequest>) => {
  const c = requestColumns(requests)
  return Effect.map(
    sql<{ id: bigint }>`
      insert into cluster_messages (
        id, rowid, message_id, shard_id, entity_type, entity_id, kind, tag, payload, headers,
        trace_id, span_id, sampled, request_id, deliver_at
      )
      select id, rowid, message_id, shard_id, entity_type, entity_id, 0, tag, nullif(payload, ''), headers,
        nullif(trace_id, ''), nullif(span_id, ''), nullif(sampled, '')::boolean, id, nullif(deliver_at, -1)
      from (
        select arrived.*, nextval('cluster_messages_rowid_seq') as rowid
        from unnest(
          ${c.id}::text[]::bigint[], ${c.messageId}::text[], ${c.shardId}::text[], ${c.entityType}::text[],
          ${c.entityId}::text[], ${c.tag}::text[], ${c.payload}::text[], ${c.headers}::text[], ${c.traceId}::text[],
          ${c.spanId}::text[], ${c.sampled}::text[], ${c.deliverAt}::text[]::bigint[]
        ) with ordinality as arrived (
          id, message_id, shard_id, entity_type, entity_id, tag, payload, headers, trace_id, span_id, sampled,
          deliver_at, place
        )
        order by place
      ) numbered
      order by message_id
      on conflict (message_id) do nothing
      returning id`,
    (rows) => new Set(rows.map((row) => row.id))
  )
}

/**
 * Stores final replies and marks requests, interrupts and acknowledgements as processed. Locks message rows by rowid
 * first, like claims and resets.
 */
const insertReplies = (sql: SqlClient.SqlClient) => (replies: ReadonlyArray<Reply.WithExitEncoded>) =>
  sql`
    with answered as (
      select * from unnest(
        ${replies.map((reply) => reply.id)}::text[]::bigint[],
        ${replies.map((reply) => reply.requestId)}::text[]::bigint[],
        ${replies.map((reply) => JSON.stringify(reply.exit))}::text[]
      ) as answered (id, request_id, payload)
    ), locked as materialized (
      select m.id, answered.id as reply_id
      from answered join cluster_messages m on m.request_id = answered.request_id
      order by m.rowid for update of m
    ), marked as (
      update cluster_messages m set processed = true, last_reply_id = locked.reply_id
      from locked where m.id = locked.id
    )
    insert into cluster_replies (id, kind, request_id, payload)
    select id, 0, request_id, payload from answered order by request_id`

const isReplyStored = (sql: SqlClient.SqlClient) => (id: string) =>
  Effect.map(sql`select 1 from cluster_replies where id = ${id}::text::bigint`, (rows) => rows.length > 0)

const requestIds = (sql: SqlClient.SqlClient) => (primaryKeys: ReadonlyArray<string>) =>
  Effect.map(
    sql<{ id: bigint; message_id: string }>`
      select id, message_id from cluster_messages where message_id = any(${primaryKeys}::text[]::varchar[])`,
    (rows) => new Map(rows.map((row) => [row.message_id, row.id]))
  )

/**
 * Claims at most `limit` messages of the shards (and entities), oldest first: due, not claimed in the last 10 minutes,
 * without a final reply or an unacknowledged chunk. `now` is in ms.
 */
const claim = (sql: SqlClient.SqlClient) =>
(
  shardIds: ReadonlyArray<string>,
  now: number,
  limit: number | undefined,
  addresses: ReadonlyArray<EntityAddress.EntityAddress> | undefined
) => {
  const wanted = addresses ?? []
  const only = addresses === undefined ? sql.literal("") : sql`
    and (c.shard_id, c.entity_type, c.entity_id) in (select * from unnest(
      ${wanted.map((address) => address.shardId.toString())}::text[],
      ${wanted.map((address) => address.entityType)}::text[], ${wanted.map((address) => address.entityId)}::text[]
    ))`
  return sql<ClaimedRow>`
    with claimed as (
      update cluster_messages m set last_read = now()
      from (
        select c.* from cluster_messages c
        where c.processed = false
          and c.shard_id = any(${shardIds}::text[]::varchar[])
          and (c.last_read is null or c.last_read < now() - interval '10 minutes')
          and (c.deliver_at is null or c.deliver_at <= ${String(now)}::text::bigint) ${only}
          and not exists (
            select 1 from cluster_replies r where r.request_id = c.request_id and (r.kind = 0 or r.acked = false)
          )
        order by c.rowid limit ${limit === undefined ? null : String(Math.floor(limit))}::text::bigint for update
      ) c left join cluster_replies sent on sent.id = c.last_reply_id
      where m.id = c.id
      returning c.*, sent.id as sent_id, sent.sequence as sent_sequence, sent.payload as sent_payload
    )
    select id, shard_id, entity_type, entity_id, kind, tag, payload, headers, trace_id, span_id, sampled,
      request_id, reply_id, sent_id, sent_sequence, sent_payload,
      set_config('synchronous_commit', 'off', true) as durability
    from claimed order by rowid`
}

/**
 * Batched statements over Effect's cluster tables, with fixed texts: planned once per connection. They mirror the stock
 * storage; `ClusterTables` checks the tables at startup.
 */
export const make = (sql: SqlClient.SqlClient) => ({
  insertRequests: insertRequests(sql),
  insertReplies: insertReplies(sql),
  isReplyStored: isReplyStored(sql),
  requestIds: requestIds(sql),
  claim: claim(sql)
})
