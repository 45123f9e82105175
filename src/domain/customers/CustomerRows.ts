import type { Change } from "../events/Event.ts"
import { Table } from "../records/Table.ts"
import { Customer } from "./Customer.ts"

/** Profiles; the columns of an erased one are empty. */
export const customers = new Table("customers", Customer)

/** The change log entry of a profile: `customers.create` for a new one. */
export const customerChange = (customer: Customer, before: Customer | null): Change => ({
  type: before === null ? "customers.create" : "customers.update",
  entityType: "customer",
  entityId: customer.id,
  payload: customer,
  before
})
