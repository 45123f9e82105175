import type { Change } from "../events/Event.ts"
import type { Customer } from "./Customer.ts"

/** A row of `customers` from the driver. */
export interface CustomerRow {
  readonly id: string
  readonly organization_id: string
  readonly user_id: string | null
  readonly email: string | null
  readonly phone: string | null
  readonly first_name: string | null
  readonly last_name: string | null
  readonly group_ids: ReadonlyArray<string>
  readonly metadata: Customer["metadata"]
  readonly created_at: Date
  readonly updated_at: Date
}

export const toCustomer = (row: CustomerRow): Customer => ({
  id: row.id,
  organizationId: row.organization_id,
  userId: row.user_id,
  email: row.email,
  phone: row.phone,
  firstName: row.first_name,
  lastName: row.last_name,
  groupIds: row.group_ids,
  metadata: row.metadata,
  createdAt: row.created_at,
  updatedAt: row.updated_at
})

/** The change log entry of a profile: `customers.create` for a new one. */
export const customerChange = (customer: Customer, before: Customer | null): Change => ({
  type: before === null ? "customers.create" : "customers.update",
  entityType: "customer",
  entityId: customer.id,
  payload: customer,
  before
})
