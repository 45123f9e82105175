import { Schema, SchemaTransformation } from "effect"
import { getRandomValues } from "node:crypto"
import { v7 } from "uuid"

/**
 * Identifier of a record: a UUID string (spec §1 conventions). Accepts any RFC 9562 version in any case and reads it in
 * lower case, as rows hold it: actors and map keys compare ids as text. Ours are version 7.
 */
export const Uuid = Schema.String.check(Schema.isUUID()).pipe(
  Schema.decodeTo(Schema.String, SchemaTransformation.toLowerCase())
)

const pattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Tells a record id from a slug or an order number, for routes that accept either. */
export const isUuid = (value: string): boolean => pattern.test(value)

/** Random bytes for 256 ids: asking the system for each id's own costs more than the rest of the id. */
const pool = new Uint8Array(256 * 16)
let used = pool.length

const random = (): Uint8Array => {
  if (used === pool.length) {
    getRandomValues(pool)
    used = 0
  }
  used += 16
  return pool.subarray(used - 16, used)
}

/** Counts the ids: those of one millisecond keep the order in which they were made. */
let sequence = 0

/** A new time-ordered identifier (UUIDv7), so that rows made together lie together in their indexes, in their order. */
export const newId = (): string => {
  sequence = (sequence + 1) >>> 0
  return v7({ random: random(), seq: sequence })
}
