import { Schema, SchemaTransformation } from "effect"
import { getRandomValues } from "node:crypto"
import { NIL, v7 } from "uuid"

/**
 * Identifier of a record: a UUID string (spec §1 conventions). Accepts any RFC 9562 version in any case and decodes to
 * lower case, as stored: entities and map keys compare ids as text. New ids are version 7.
 */
export const Uuid = Schema.String.check(Schema.isUUID()).pipe(
  Schema.decodeTo(Schema.String, SchemaTransformation.toLowerCase())
)

const pattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Tells a record id from a slug or an order number, for routes that accept either. */
export const isUuid = (value: string): boolean => pattern.test(value)

/** Comes before every id in order: the position before the first row. */
export const nilId: string = NIL

/** Random bytes for 256 ids: a system call per id costs more than the rest of the id. */
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

/** Counts the ids, so that those of one millisecond keep their order. */
let sequence = 0

/** A new time-ordered identifier (UUIDv7), so that rows created together are adjacent in indexes, in order. */
export const newId = (): string => {
  sequence = (sequence + 1) >>> 0
  return v7({ random: random(), seq: sequence })
}
