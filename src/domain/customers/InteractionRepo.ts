import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor } from "../access/Actor.ts"
import { changeLogInsert } from "../events/ChangeLogRepo.ts"
import type { Change } from "../events/Event.ts"
import { deleteRecorded } from "../events/RecordedDeletionRepo.ts"
import { idempotencyRecord } from "../idempotency/IdempotencyRecordRepo.ts"
import { ownPage } from "../paging/OwnPageRepo.ts"
import type { PageRequest } from "../paging/Paging.ts"
import { Table } from "../records/Table.ts"
import { Interaction } from "./Interaction.ts"

export const interactions = new Table("customer_interactions", Interaction)

/** All SQL of interactions. The change log records them as changes of their customer. */
export class InteractionRepo extends Context.Service<InteractionRepo>()("stoa/domain/customers/InteractionRepo", {
  make: Effect.map(SqlClient.SqlClient, (sql) => {
    /** A page of a customer's interactions, newest first, in two statements. */
    const list = Effect.fn("InteractionRepo.list")((customerId: string, page: PageRequest) =>
      Effect.orDie(
        ownPage(sql, interactions, "created_at desc, id desc", page, [sql`customer_id = ${customerId}::uuid`])
      )
    )

    return { list, ...writing(sql) }
  })
}) {
  static readonly layer = Layer.effect(InteractionRepo, InteractionRepo.make)
}

const toChange = (
  type: Extract<Change["type"], `customers.${string}Interaction`>,
  payload: Interaction,
  before: Interaction | null
): Change => ({ type, entityType: "customer", entityId: payload.customerId, payload, before })

const writing = (sql: SqlClient.SqlClient) => {
  /** False, and nothing written, when the organization has no such customer. */
  const insert = Effect.fn("InteractionRepo.insert")(function*(i: Interaction) {
    const actor = yield* CurrentActor
    // The lock prevents a concurrent erasure of the customer.
    const rows = yield* sql`with owner as materialized (select id from customers where id = ${i.customerId}::uuid
        and organization_id = ${actor.organizationId} and erased_at is null for no key update),
      made as (insert into customer_interactions (${sql.literal(interactions.names)})
        ${interactions.values(sql, [i])} where exists (select 1 from owner) returning id),
      event as (${changeLogInsert(sql, actor, [toChange("customers.addInteraction", i, null)], "made")})${
      idempotencyRecord(sql, actor, "made")
    } select id from made`
    return rows.length === 1
  }, Effect.orDie)

  /** Applies a rule to the current interaction with the row locked. Undefined for an unknown one. */
  const change = Effect.fn("InteractionRepo.change")(
    function*(customerId: string, id: string, rule: (before: Interaction) => Interaction) {
      const actor = yield* CurrentActor
      const [before] = yield* interactions.rows(sql)`select ${
        sql.literal(interactions.columns())
      } from customer_interactions
        where id = ${id}::uuid and customer_id = ${customerId}::uuid and organization_id = ${actor.organizationId}
        for update`
      if (before === undefined) return undefined
      const i = rule(before)
      if (i === before) return i
      yield* sql`with event as (${changeLogInsert(sql, actor, [toChange("customers.changeInteraction", i, before)])})${
        idempotencyRecord(sql, actor)
      }
        update customer_interactions set (${sql.literal(interactions.names)}) = (${interactions.values(sql, [i])})
        where id = ${id}::uuid and organization_id = ${actor.organizationId}`
      return i
    },
    sql.withTransaction,
    Effect.orDie
  )

  /** False when the customer has no such interaction. */
  const remove = Effect.fn("InteractionRepo.remove")((customerId: string, id: string) =>
    deleteRecorded(
      sql,
      interactions,
      id,
      (gone: Interaction) => toChange("customers.removeInteraction", gone, gone),
      sql`customer_id = ${customerId}::uuid`
    ).pipe(Effect.map((gone) => gone !== undefined), Effect.orDie)
  )

  return { insert, change, remove }
}
