import { Schema, SchemaTransformation } from "effect"
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

/** A new time-ordered identifier (UUIDv7), so that rows made together lie together in their indexes. */
export const newId = (): string => v7()
