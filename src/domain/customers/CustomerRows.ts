import type { Change } from "../events/Event.ts"
import { columnsOf } from "../modules/RecordColumns.ts"
import { Customer } from "./Customer.ts"

/** The select list of a customer from a row of `customers`. */
export const customerColumns = columnsOf(Customer.fields)

/** The change log entry of a profile: `customers.create` for a new one. */
export const customerChange = (customer: Customer, before: Customer | null): Change => ({
  type: before === null ? "customers.create" : "customers.update",
  entityType: "customer",
  entityId: customer.id,
  payload: customer,
  before
})
