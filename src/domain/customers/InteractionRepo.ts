import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor } from "../access/Actor.ts"
import { changeLogInsert } from "../events/ChangeLogRepo.ts"
import { idempotencyRecord } from "../idempotency/IdempotencyRecordRepo.ts"
import type { PageRequest } from "../paging/Paging.ts"
import { recordRepo } from "../records/RecordRepo.ts"
import { Table } from "../records/Table.ts"
import { Interaction } from "./Interaction.ts"

export const interactions = new Table("customer_interactions", Interaction)

/** All SQL of interactions. The change log records them as changes of their customer. */
export class InteractionRepo extends Context.Service<InteractionRepo>()("stoa/domain/customers/InteractionRepo", {
  make: Effect.map(SqlClient.SqlClient, (sql) => {
    const records = recordRepo(sql, {
      table: interactions,
      order: "created_at desc, id desc",
      entityType: "customer",
      entityId: ({ customerId }) => customerId,
      changes: {
        create: "customers.addInteraction",
        update: "customers.changeInteraction",
        delete: "customers.removeInteraction"
      }
    }, Effect.die)
    const of = (customerId: string) => sql`customer_id = ${customerId}::uuid`

    /** False, and nothing written, when the organization has no such customer. */
    const insert = Effect.fn("InteractionRepo.insert")(function*(i: Interaction) {
      const actor = yield* CurrentActor
      const added = { type: "customers.addInteraction", entityType: "customer", entityId: i.customerId } as const
      // The lock prevents a concurrent erasure of the customer.
      const rows = yield* sql`with owner as materialized (select id from customers where id = ${i.customerId}::uuid
          and organization_id = ${actor.organizationId} and erased_at is null for no key update),
        made as (insert into customer_interactions (${sql.literal(interactions.names)})
          ${interactions.values(sql, [i])} where exists (select 1 from owner) returning id),
        event as (${changeLogInsert(sql, actor, [{ ...added, payload: i, before: null }], "made")})${
        idempotencyRecord(sql, actor, "made")
      } select id from made`
      return rows.length === 1
    }, Effect.orDie)

    return {
      /** A page of a customer's interactions, newest first, in two statements. */
      list: (customerId: string, page: PageRequest) => records.list(page, [of(customerId)]),
      insert,
      /** Applies a rule to the current interaction with the row locked. Undefined for an unknown one. */
      change: (customerId: string, id: string, rule: (before: Interaction) => Interaction) =>
        records.change(id, (before) => Effect.succeed(rule(before)), of(customerId)),
      /** False when the customer has no such interaction. */
      remove: (customerId: string, id: string) => records.remove(id, of(customerId))
    }
  })
}) {
  static readonly layer = Layer.effect(InteractionRepo, InteractionRepo.make)
}
