import { Schema } from "effect"
import { Uuid } from "../ids/Id.ts"
import { Time } from "../pricing/Bounds.ts"

/** The file of a digital order line (contract, platform §7). The link is null where no file can be fetched. */
export const Download = Schema.Struct({
  lineItemId: Uuid,
  title: Schema.String,
  downloadUrl: Schema.NullOr(Schema.String),
  downloadsRemaining: Schema.Int,
  expiresAt: Schema.NullOr(Time)
}).annotate({ identifier: "Download" })
export type Download = typeof Download.Type

/** A file that an order line grants, and its use so far. */
export interface Granted {
  readonly lineItemId: string
  readonly title: string
  /** Null while the order is not paid. */
  readonly fulfillmentId: string | null
  /** Location of the file; null where the catalog has none. */
  readonly file: string | null
  readonly remaining: number
  readonly expiresAt: Date | null
  /** The order was neither cancelled nor refunded. */
  readonly valid: boolean
}

/** Whether the file of a grant can be fetched now. */
export const isOpen = (
  granted: Granted,
  now: Date
): granted is Granted & { readonly fulfillmentId: string; readonly expiresAt: Date } =>
  granted.valid && granted.fulfillmentId !== null && granted.file !== null && granted.remaining > 0 &&
  granted.expiresAt !== null && granted.expiresAt > now
