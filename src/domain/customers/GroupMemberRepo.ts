import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, currentOrganization } from "../access/Actor.ts"
import { changeLogInsert } from "../events/ChangeLogRepo.ts"
import { idempotencyRecord } from "../idempotency/IdempotencyRecordRepo.ts"
import { offsetOf, type PageRequest } from "../paging/Paging.ts"
import { columnsOf } from "../records/Columns.ts"
import { Customer } from "./Customer.ts"
import { customerChange, customers } from "./CustomerRows.ts"

/**
 * Members of customer groups. The table's trigger stores the group ids in the profile, so that carts and checkouts read
 * them with it. A membership change is therefore a change of the profile.
 */
export class GroupMemberRepo extends Context.Service<GroupMemberRepo>()("stoa/domain/customers/GroupMemberRepo", {
  make: Effect.map(SqlClient.SqlClient, (sql) => {
    /** A page of the customers in a group, last joined first, in two statements. */
    const list = Effect.fn("GroupMemberRepo.list")(function*(groupId: string, page: PageRequest) {
      const organization = yield* currentOrganization
      const where = sql`m.organization_id = ${organization} and m.group_id = ${groupId}::uuid`
      const [rows, counted] = yield* Effect.all([
        sql<Customer>`select ${
          sql.literal(columnsOf(Customer.fields, "c"))
        } from customer_group_members m join customers c on c.id = m.customer_id
          where ${where} order by m.joined_at desc, m.customer_id desc limit ${page.limit} offset ${offsetOf(page)}`,
        sql<{ readonly count: bigint }>`select count(*) as count from customer_group_members m where ${where}`
      ], { concurrency: "unbounded" })
      return { ...page, items: rows, total: Number(counted[0]?.count ?? 0) }
    }, Effect.orDie)

    return { list, set: setting(sql) }
  })
}) {
  static readonly layer = Layer.effect(GroupMemberRepo, GroupMemberRepo.make)
}

/**
 * Adds a customer to a group or removes them, with the event `customers.update`, in one transaction. `Unchanged`:
 * already in that state; nothing was written.
 */
const setting = (sql: SqlClient.SqlClient) => {
  const put = (organization: string, groupId: string, customerId: string) =>
    sql`insert into customer_group_members (organization_id, group_id, customer_id)
      values (${organization}, ${groupId}::uuid, ${customerId}::uuid) on conflict do nothing returning 1`

  const take = (organization: string, groupId: string, customerId: string) =>
    sql`delete from customer_group_members where organization_id = ${organization} and group_id = ${groupId}::uuid
      and customer_id = ${customerId}::uuid returning 1`

  return Effect.fn("GroupMemberRepo.set")(
    function*(groupId: string, customerId: string, member: boolean) {
      const actor = yield* CurrentActor
      const organization = actor.organizationId
      // Lock both rows: a group that is being deleted, or a customer who is being erased, gets no member.
      const groups = yield* sql`select 1 from customer_groups
      where id = ${groupId}::uuid and organization_id = ${organization} for key share`
      if (groups.length === 0) return { _tag: "Unknown", what: "group" } as const
      const columns = sql.literal(customers.columns())
      const [before] = yield* customers.rows(sql)`select ${columns} from customers where id = ${customerId}::uuid
        and organization_id = ${organization} and erased_at is null for update`
      if (before === undefined) return { _tag: "Unknown", what: "customer" } as const
      const written = yield* (member ? put : take)(organization, groupId, customerId)
      if (written.length === 0) return { _tag: "Unchanged" } as const
      const [customer = before] = yield* customers.rows(sql)`select ${columns} from customers
        where id = ${customerId}::uuid and organization_id = ${organization}`
      yield* sql`with event as (${changeLogInsert(sql, actor, [customerChange(customer, before)])})${
        idempotencyRecord(sql, actor)
      } select 1`
      return { _tag: "Changed", customer } as const
    },
    sql.withTransaction,
    Effect.orDie
  )
}
