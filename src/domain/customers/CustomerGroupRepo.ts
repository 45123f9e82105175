import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import { CurrentActor, currentOrganization } from "../platform/access/Actor.ts"
import { conflict } from "../platform/errors/ErrorKinds.ts"
import { changeLogInsert } from "../platform/events/ChangeLogRepo.ts"
import { idempotencyRecord } from "../platform/idempotency/IdempotencyRecordRepo.ts"
import { CustomerGroupId, CustomerId } from "../platform/ids/Id.ts"
import { totalOf } from "../platform/paging/ListTotalsRepo.ts"
import { offsetOf, type PageRequest } from "../platform/paging/Paging.ts"
import { refusedBy } from "../platform/records/Constraints.ts"
import { Table } from "../platform/records/Table.ts"
import { recordRepo } from "../platform/resources/RecordRepo.ts"
import { Time } from "../platform/text/Time.ts"
import { customerChange, CustomerNotFound } from "./Customer.ts"
import { CustomerGroup, CustomerGroupNotFound } from "./CustomerGroup.ts"
import { customers } from "./CustomerRepo.ts"

export const groups = new Table("customer_groups", CustomerGroup)

const GroupMember = Schema.Struct({
  organizationId: Schema.String,
  groupId: CustomerGroupId,
  customerId: CustomerId,
  joinedAt: Time
})

export const groupMembers = new Table("customer_group_members", GroupMember, { unset: ["joinedAt"] })

class GroupNameTaken extends conflict("CustomerGroupNameTaken", "A customer group with this name already exists.") {}

class GroupHasMembers extends conflict("CustomerGroupInUse", "There are customers in this group.") {}

const orRefused = refusedBy({
  customer_groups_name: () => new GroupNameTaken(),
  // The foreign key of memberships: a customer who joins at this moment keeps the group.
  customer_group_members_group_id_fkey: () => new GroupHasMembers()
})

export class CustomerGroupRepo extends Context.Service<CustomerGroupRepo>()("stoa/domain/customers/CustomerGroupRepo", {
  make: Effect.map(SqlClient.SqlClient, (sql) => ({
    ...recordRepo(sql, {
      table: groups,
      order: "name",
      counted: "all",
      entityType: "customer_group",
      changes: { create: "customerGroups.create", update: "customerGroups.update", delete: "customerGroups.delete" }
    }, orRefused),
    ...membership(sql)
  }))
}) {
  static readonly layer = Layer.effect(CustomerGroupRepo, CustomerGroupRepo.make)
}

/** The table's trigger stores the group ids in the profile: a membership change is a change of the profile. */
const membership = (sql: SqlClient.SqlClient) => {
  const members = Effect.fn("CustomerGroupRepo.members")(function*(groupId: CustomerGroupId, page: PageRequest) {
    const organization = yield* currentOrganization
    const where = sql`m.organization_id = ${organization} and m.group_id = ${groupId}::uuid`
    const [items, [counted]] = yield* Effect.all([
      customers.rows(sql)`select ${
        sql.literal(customers.columns("c"))
      } from customer_group_members m join customers c on c.id = m.customer_id
        where ${where} order by m.joined_at desc, m.customer_id desc limit ${page.limit} offset ${offsetOf(page)}`,
      sql`select ${totalOf(sql, organization, "customer_group_members", [groupId])} as count`
    ], { concurrency: "unbounded" })
    return { ...page, items, total: Number(counted?.["count"]) }
  }, Effect.orDie)

  const setMember = Effect.fn("CustomerGroupRepo.setMember")(
    function*(groupId: CustomerGroupId, customerId: CustomerId, member: boolean) {
      const actor = yield* CurrentActor
      const organization = actor.organizationId
      // Lock both rows: a group that is being deleted, or a customer who is being erased, gets no member.
      const found = yield* sql`select 1 from customer_groups
        where id = ${groupId}::uuid and organization_id = ${organization} for key share`
      if (found.length === 0) return yield* new CustomerGroupNotFound()
      const columns = sql.literal(customers.columns())
      const [before] = yield* customers.rows(sql)`select ${columns} from customers where id = ${customerId}::uuid
        and organization_id = ${organization} and erased_at is null for update`
      if (before === undefined) return yield* new CustomerNotFound()
      const written = yield* member
        ? sql`insert into customer_group_members ${
          groupMembers.insert(sql, {
            organizationId: sql`${organization}`,
            groupId: sql`${groupId}::uuid`,
            customerId: sql`${customerId}::uuid`
          })
        } on conflict do nothing returning 1`
        : sql`delete from customer_group_members where organization_id = ${organization}
          and group_id = ${groupId}::uuid and customer_id = ${customerId}::uuid returning 1`
      if (written.length === 0) return undefined
      const [customer = before] = yield* customers.rows(sql)`select ${columns} from customers
        where id = ${customerId}::uuid and organization_id = ${organization}`
      yield* sql`with event as (${changeLogInsert(sql, actor, [customerChange(customer, before)])})${
        idempotencyRecord(sql, actor)
      } select 1`
      return customer
    },
    sql.withTransaction,
    Effect.catchIf(SqlError.isSqlError, Effect.die)
  )

  return { members, setMember }
}
