import { Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { CurrentActor, currentOrganization } from "../access/Actor.ts"
import { Conflict } from "../errors/ApiErrors.ts"
import { changeLogInsert } from "../events/ChangeLogRepo.ts"
import type { Change } from "../events/Event.ts"
import { deleteRecorded } from "../events/RecordedDeletionRepo.ts"
import { idempotencyRecord } from "../idempotency/IdempotencyRecordRepo.ts"
import { columnsOf } from "../modules/RecordColumns.ts"
import { ownPage } from "../paging/OwnPageRepo.ts"
import type { PageOf, PageRequest } from "../paging/Paging.ts"
import { CustomerGroup } from "./CustomerGroup.ts"

const source = { table: "customer_groups", columns: columnsOf(CustomerGroup.fields), order: "name" }

/** All SQL of customer groups; `GroupMemberRepo` has their members. */
export class CustomerGroupRepo extends Context.Service<CustomerGroupRepo, {
  readonly find: (id: string) => Effect.Effect<CustomerGroup | undefined, never, CurrentActor>
  /** A page by name, in two statements. */
  readonly list: (page: PageRequest) => Effect.Effect<PageOf<CustomerGroup>, never, CurrentActor>
  /** Writes a new group; 409 when the name is taken. */
  readonly insert: (group: CustomerGroup) => Effect.Effect<void, Conflict, CurrentActor>
  /**
   * Applies a rule to the current group with the row locked. Undefined for an unknown group; 409 when the name is
   * taken.
   */
  readonly change: (
    id: string,
    rule: (before: CustomerGroup) => CustomerGroup
  ) => Effect.Effect<CustomerGroup | undefined, Conflict, CurrentActor>
  /** Deletes a group; false for an unknown group, 409 while it has members. */
  readonly remove: (id: string) => Effect.Effect<boolean, Conflict, CurrentActor>
}>()("stoa/domain/customers/CustomerGroupRepo") {}

const toChange = (
  type: Extract<Change["type"], `customerGroups.${string}`>,
  group: CustomerGroup,
  before: CustomerGroup | null
): Change => ({ type, entityType: "customer_group", entityId: group.id, payload: group, before })

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

const writing = (sql: SqlClient.SqlClient) => {
  const insert = Effect.fn("CustomerGroupRepo.insert")(function*(g: CustomerGroup) {
    const actor = yield* CurrentActor
    yield* sql`with made as (
        insert into customer_groups (id, organization_id, name, description, metadata, created_at, updated_at)
        values (${g.id}::uuid, ${g.organizationId}, ${g.name}, ${g.description}, ${JSON.stringify(g.metadata)}::jsonb,
          ${g.createdAt}::timestamptz, ${g.updatedAt}::timestamptz) returning id),
      event as (${changeLogInsert(sql, actor, [toChange("customerGroups.create", g, null)], "made")})${
      idempotencyRecord(sql, actor, "made")
    } select id from made`
  }, Effect.catchTag("SqlError", orRefused))

  const change = Effect.fn("CustomerGroupRepo.change")(
    function*(id: string, rule: (before: CustomerGroup) => CustomerGroup) {
      const actor = yield* CurrentActor
      const [before] = yield* sql<CustomerGroup>`select ${sql.literal(source.columns)} from customer_groups
        where id = ${id}::uuid and organization_id = ${actor.organizationId} for update`
      if (before === undefined) return undefined
      const g = rule(before)
      if (g === before) return g
      yield* sql`with event as (${changeLogInsert(sql, actor, [toChange("customerGroups.update", g, before)])})${
        idempotencyRecord(sql, actor)
      }
        update customer_groups set name = ${g.name}, description = ${g.description},
          metadata = ${JSON.stringify(g.metadata)}::jsonb, updated_at = ${g.updatedAt}::timestamptz
        where id = ${id}::uuid and organization_id = ${actor.organizationId}`
      return g
    },
    sql.withTransaction,
    Effect.catchTag("SqlError", orRefused)
  )

  const remove = Effect.fn("CustomerGroupRepo.remove")((id: string) =>
    deleteRecorded(sql, source, id, (gone: CustomerGroup) => toChange("customerGroups.delete", gone, gone)).pipe(
      Effect.map((gone) => gone !== undefined),
      Effect.catchTag("SqlError", orRefused)
    )
  )

  return { insert, change, remove }
}

/** `CustomerGroupRepo` over the database of the process. */
export const customerGroupRepoLayer = Layer.effect(
  CustomerGroupRepo,
  Effect.map(SqlClient.SqlClient, (sql) => {
    const find = Effect.fn("CustomerGroupRepo.find")(function*(id: string) {
      const [group] = yield* sql<CustomerGroup>`select ${sql.literal(source.columns)} from customer_groups
        where id = ${id}::uuid and organization_id = ${yield* currentOrganization}`
      return group
    }, Effect.orDie)

    const list = Effect.fn("CustomerGroupRepo.list")((page: PageRequest) =>
      Effect.orDie(ownPage<CustomerGroup>(sql, source, page))
    )

    return CustomerGroupRepo.of({ find, list, ...writing(sql) })
  })
)
