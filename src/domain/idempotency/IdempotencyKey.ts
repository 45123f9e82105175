import { Schema } from "effect"
import { ofForm } from "../text/Storable.ts"

/** The text of a key, in the header as in a body: a short one would be guessed by a stranger. */
export const idempotencyKeyForm = /^[\x21-\x7e]{8,255}$/

/** A key that a body names (contract §3.1). */
export const IdempotencyKey = Schema.String.check(
  ofForm(idempotencyKeyForm, "8 to 255 visible ASCII characters")
).annotate({ description: "Counts as the header Idempotency-Key, which wins." })
