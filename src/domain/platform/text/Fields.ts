import { Schema } from "effect"
import type { Issue } from "../errors/ApiErrors.ts"

const largestInt4 = 2_147_483_647

export const Units = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: largestInt4 }))

/** Lower goes first. */
export const Priority = Schema.Int.check(Schema.isBetween({ minimum: -largestInt4, maximum: largestInt4 }))

export const maybe = <S extends Schema.Top>(schema: S) => Schema.optional(Schema.NullOr(schema))

/** The sent value, or the previous one. Null is a value. */
export const over = <A>(sent: A | undefined, before: A): A => sent === undefined ? before : sent

export const issue = (path: string, message: string): Issue => ({ path, message, code: "invalid" })
