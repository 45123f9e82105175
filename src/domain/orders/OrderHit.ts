import { Schema } from "effect"
import { Uuid } from "../ids/Id.ts"
import { Amount, Time } from "../pricing/Bounds.ts"
import { OrderStatus } from "./OrderStatus.ts"

/** An order found by a look-up, with enough data to distinguish it. */
export const OrderHit = Schema.Struct({
  id: Uuid,
  orderNumber: Schema.String,
  status: OrderStatus,
  currency: Schema.String,
  grandTotal: Amount,
  customerId: Schema.NullOr(Uuid),
  /** First and last name of the customer; null of a guest. */
  customerName: Schema.NullOr(Schema.String),
  /** The address left with the order, else that of the customer's profile. */
  email: Schema.NullOr(Schema.String),
  placedAt: Time
}).annotate({ identifier: "OrderHit" })
export type OrderHit = typeof OrderHit.Type
