import { Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { Conflict } from "../errors/ApiErrors.ts"
import { recordRepo } from "../records/RecordRepo.ts"
import { Table } from "../records/Table.ts"
import { CustomerGroup } from "./CustomerGroup.ts"

export const groups = new Table("customer_groups", CustomerGroup)

/** Customer groups, listed by name; `GroupMemberRepo` has their members. 409 for a taken name, or while it has members. */
export class CustomerGroupRepo extends Context.Service<CustomerGroupRepo>()("stoa/domain/customers/CustomerGroupRepo", {
  make: Effect.map(SqlClient.SqlClient, (sql) =>
    recordRepo(sql, {
      table: groups,
      order: "name",
      entityType: "customer_group",
      changes: { create: "customerGroups.create", update: "customerGroups.update", delete: "customerGroups.delete" }
    }, orRefused))
}) {
  static readonly layer = Layer.effect(CustomerGroupRepo, CustomerGroupRepo.make)
}

const orRefused = (error: SqlError.SqlError) => {
  const { reason } = error
  if (reason._tag === "UniqueViolation" && reason.constraint === "customer_groups_name") {
    return Effect.fail(Conflict.of("A customer group with this name already exists."))
  }
  // The foreign key of memberships: a customer who joins at this moment keeps the group.
  return reason._tag === "ConstraintError"
    ? Effect.fail(Conflict.of("There are customers in this group."))
    : Effect.die(error)
}
