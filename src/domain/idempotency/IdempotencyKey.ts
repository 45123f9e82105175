import { Schema } from "effect"
import { ofForm } from "../text/Storable.ts"

/** The text of a key, in the header or in a body. Short keys are refused, since others could guess them. */
export const idempotencyKeyForm = /^[\x21-\x7e]{8,255}$/

/** A key in a body (contract §3.1). */
export const IdempotencyKey = Schema.String.check(
  ofForm(idempotencyKeyForm, "8 to 255 visible ASCII characters")
).annotate({ description: "Counts as the header Idempotency-Key, which wins." })
