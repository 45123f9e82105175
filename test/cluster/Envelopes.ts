import { Effect, Option } from "effect"
import type { Envelope, MessageStorage, Reply } from "effect/cluster"
import { EntityAddress, EntityId, EntityType, MachineId, ShardId, Snowflake } from "effect/cluster"

/** What a test says about a request; everything else has a default. */
export interface RequestFields {
  readonly entityType?: string
  readonly entityId?: string
  readonly shard?: number
  readonly tag?: string
  /** The request's own key; null for a request that may be repeated. */
  readonly key?: string | null
  readonly payload?: unknown
  readonly deliverAt?: number
  /** Age of the request's id in ms. */
  readonly age?: number
  readonly sampled?: boolean | undefined
  readonly id?: string
}

let sequence = 0

/** A new id, as a runner would draw it `age` ms ago. */
export const nextId = (age = 0): string => {
  sequence++
  const timestamp = Date.now() - age - Math.floor(sequence / 4096)
  return String(Snowflake.make({ machineId: MachineId.make(1), sequence: sequence % 4096, timestamp }))
}

/** The text form of a test shard. */
export const shardText = (id: number): string => ShardId.make("default", id).toString()

export const address = (entityId: string, shard = 1, entityType = "Block"): EntityAddress.EntityAddress =>
  EntityAddress.make({
    shardId: ShardId.make("default", shard),
    entityType: EntityType.make(entityType),
    entityId: EntityId.make(entityId)
  })

/** The composed key the engine gives to the storage. */
export const primaryKeyOf = (fields: RequestFields): string =>
  [fields.entityType ?? "Block", fields.entityId ?? "1", fields.tag ?? "book", fields.key ?? ""].join("/")

type SaveOptions = Parameters<MessageStorage.Encoded["saveEnvelope"]>[0]

/** A request ready to be saved. */
export const request = (
  fields: RequestFields = {}
): SaveOptions & { readonly envelope: Envelope.PartialRequestEncoded } => {
  const id = fields.id ?? nextId(fields.age)
  const named = { ...fields, key: fields.key === undefined ? id : fields.key }
  return {
    envelope: {
      _tag: "Request",
      requestId: id,
      address: {
        shardId: { group: "default", id: fields.shard ?? 1 },
        entityType: fields.entityType ?? "Block",
        entityId: fields.entityId ?? "1"
      },
      tag: fields.tag ?? "book",
      payload: fields.payload ?? { seats: 2 },
      headers: {},
      traceId: "trace",
      spanId: "span",
      ...(fields.sampled === undefined ? {} : { sampled: fields.sampled })
    },
    primaryKey: named.key === null ? null : primaryKeyOf(named),
    deliverAt: fields.deliverAt ?? null
  }
}

type Saved = ReturnType<typeof request>

/** The final reply to a request. */
export const answer = (saved: Saved, value: unknown = "done", age = 0): Reply.WithExitEncoded => ({
  _tag: "WithExit",
  requestId: saved.envelope.requestId,
  id: nextId(age),
  exit: { _tag: "Success", value }
})

/** One chunk of a streamed reply. */
export const chunk = (saved: Saved, place: number): Reply.ChunkEncoded => ({
  _tag: "Chunk",
  requestId: saved.envelope.requestId,
  id: nextId(),
  sequence: place,
  values: [`part ${place}`]
})

const control = (envelope: Envelope.Encoded): SaveOptions => ({ envelope, primaryKey: null, deliverAt: null })

export const acknowledgement = (saved: Saved, part: Reply.ChunkEncoded): SaveOptions =>
  control({
    _tag: "AckChunk",
    id: nextId(),
    address: saved.envelope.address,
    requestId: saved.envelope.requestId,
    replyId: part.id
  })

export const interrupt = (saved: Saved): SaveOptions =>
  control({ _tag: "Interrupt", id: nextId(), address: saved.envelope.address, requestId: saved.envelope.requestId })

/** Claims what is waiting in the given shards now and answers the request ids, oldest first. */
export const claim = (
  storage: MessageStorage.Encoded,
  options: {
    readonly shards?: readonly [number, ...ReadonlyArray<number>]
    readonly limit?: number
    readonly addresses?: ReadonlyArray<EntityAddress.EntityAddress>
    readonly now?: number
  } = {}
) => {
  const [first, ...rest] = options.shards ?? [1]
  const { now, shards: _, ...filter } = options
  return Effect.map(
    storage.unprocessedMessages([shardText(first), ...rest.map(shardText)], now ?? Date.now(), filter),
    (messages) => messages.map(({ envelope }) => envelope._tag === "Request" ? envelope.requestId : envelope._tag)
  )
}

export const idOf = (saved: Saved): string => saved.envelope.requestId

/** The id a duplicate was first saved under, or undefined when it was no duplicate. */
export const originalId = (result: MessageStorage.SaveResult.Encoded): string | undefined =>
  result._tag === "Duplicate" ? String(result.originalId) : undefined

export const lastReply = (result: MessageStorage.SaveResult.Encoded): string | undefined =>
  result._tag === "Duplicate" ? Option.getOrUndefined(result.lastReceivedReply)?._tag : undefined
