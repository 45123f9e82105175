import { Schema } from "effect"
import type { Issue } from "../errors/ApiErrors.ts"

const largestInt4 = 2_147_483_647

/** A number of units, from 1. */
export const Units = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: largestInt4 }))

/** Lower goes first. */
export const Priority = Schema.Int.check(Schema.isBetween({ minimum: -largestInt4, maximum: largestInt4 }))

/** A field of a request that may be left out or null. */
export const maybe = <S extends Schema.Top>(schema: S) => Schema.optional(Schema.NullOr(schema))

/** A sent value, or the previous one if none was sent. Null is a value. */
export const over = <A>(sent: A | undefined, before: A): A => sent === undefined ? before : sent

/** An issue of a field whose value contradicts another one. */
export const issue = (path: string, message: string): Issue => ({ path, message, code: "invalid" })
