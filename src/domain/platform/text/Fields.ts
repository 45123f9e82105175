import { Schema } from "effect"
import type { Issue } from "../errors/ApiErrors.ts"

const largestInt4 = 2_147_483_647

export const Units = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: largestInt4 }))

/** Lower goes first. */
export const Priority = Schema.Int.check(Schema.isBetween({ minimum: -largestInt4, maximum: largestInt4 }))

export const maybe = <S extends Schema.Top>(schema: S) => Schema.optional(Schema.NullOr(schema))

/** The sent value, or the previous one. Null is a value. */
export const over = <A>(sent: A | undefined, before: A): A => sent === undefined ? before : sent

/** `message` begins with `must`, `cannot` or `is`, and gets its field as its subject. */
export const issue = (path: string, message: string, code = "invalid"): Issue => ({ path, message, code })
