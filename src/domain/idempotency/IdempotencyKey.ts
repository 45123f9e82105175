import { Schema } from "effect"

/** The text of a key, in the header as in a body: a short one would be guessed by a stranger. */
export const idempotencyKeyForm = /^[\x21-\x7e]{8,255}$/

/** A key that a body names (contract §3.1). */
export const IdempotencyKey = Schema.String.check(
  Schema.isPattern(idempotencyKeyForm, { expected: "8 to 255 visible ASCII characters" })
).annotate({ description: "Counts as the header Idempotency-Key, which wins." })
