import { Option } from "effect"
import type { Envelope, Reply } from "effect/cluster"
import { ShardId } from "effect/cluster"

/** A claimed row of `cluster_messages` with the reply last sent for it, as the driver decodes it. */
export interface ClaimedRow {
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

/** A message handed to the cluster: the envelope and the chunk that was last sent for its request, if any. */
export interface ClaimedMessage {
  readonly envelope: Envelope.Encoded
  readonly lastSentReply: Option.Option<Reply.Encoded>
}

/** A request with its deduplication key, on its way into `cluster_messages`. */
export interface NewRequest {
  readonly envelope: Envelope.PartialRequestEncoded
  readonly primaryKey: string
  /** Unix time in ms before which it is not handed out, or null. */
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

/** Decodes a claimed row: 0 is a request, 1 the acknowledgement of a chunk, 2 an interrupt. */
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
 * The columns of a batch of requests, one array each. Absent values are empty strings and -1, because the driver cannot
 * tell the type of an array that holds only nulls; the statement turns them back with `nullif`.
 */
export const requestColumns = (requests: ReadonlyArray<NewRequest>) => {
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
