import { Schema } from "effect"
import { Cart } from "../carts/Cart.ts"
import { Order } from "../orders/Order.ts"
import { Time } from "../pricing/Bounds.ts"
import { Address } from "./Address.ts"
import { Customer } from "./Customer.ts"
import { Interaction } from "./Interaction.ts"
import { OrderRecords } from "./OrderRecord.ts"

/** All data that the store holds about a customer, each kind newest first. */
export const PersonalData = Schema.Struct({
  exportedAt: Time,
  profile: Customer,
  addresses: Schema.Array(Address),
  orders: Schema.Array(Order),
  carts: Schema.Array(Cart),
  interactions: Schema.Array(Interaction),
  ...OrderRecords.fields
}).annotate({ identifier: "PersonalData" })
export type PersonalData = typeof PersonalData.Type
