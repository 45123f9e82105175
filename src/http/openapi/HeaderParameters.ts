import { Context } from "effect"
import type { JsonObject } from "./Json.ts"

/** Annotation of an endpoint that a guest opens with the secret of the cart (contract §2). */
export class OpensWithCartSecret
  extends Context.Service<OpensWithCartSecret, true>()("stoa/http/openapi/OpensWithCartSecret")
{}

/** The header of `OpensWithCartSecret`, as a parameter of the document. */
export const cartSecretParameter: JsonObject = {
  name: "x-cart-secret",
  in: "header",
  required: false,
  description: "The secret that the answer to the cart's creation showed. A guest needs it; others need credentials.",
  schema: { type: "string" }
}

/** The header that makes a repeat of an unsafe request safe (ARCHITECTURE invariant 4). */
export const idempotencyKeyParameter: JsonObject = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description: "The same key with the same request gives the same answer, and the work is done once.",
  schema: { type: "string", minLength: 8, maxLength: 255, pattern: "^[\\x21-\\x7e]{8,255}$" }
}
