import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, currentOrganization } from "../access/Actor.ts"
import { changeLogInsert } from "../events/ChangeLogRepo.ts"
import type { Change } from "../events/Event.ts"
import { idempotencyRecord } from "../idempotency/IdempotencyRecordRepo.ts"
import { offsetOf, type PageOf, type PageRequest } from "../paging/Paging.ts"
import type { Interaction } from "./Interaction.ts"

interface InteractionRow {
  readonly id: string
  readonly organization_id: string
  readonly customer_id: string
  readonly kind: Interaction["kind"]
  readonly notes: string
  readonly related_entity_id: string | null
  readonly metadata: Interaction["metadata"]
  readonly created_by: string | null
  readonly created_at: Date
  readonly updated_at: Date
}

const toInteraction = (row: InteractionRow): Interaction => ({
  id: row.id,
  organizationId: row.organization_id,
  customerId: row.customer_id,
  kind: row.kind,
  notes: row.notes,
  relatedEntityId: row.related_entity_id,
  metadata: row.metadata,
  createdBy: row.created_by,
  createdAt: row.created_at,
  updatedAt: row.updated_at
})

/** All SQL of interactions. The change log records them as changes of their customer. */
export class InteractionRepo extends Context.Service<InteractionRepo, {
  /** A page of a customer's interactions, newest first, in two statements. */
  readonly list: (customerId: string, page: PageRequest) => Effect.Effect<PageOf<Interaction>, never, CurrentActor>
  /** False, and nothing written, when the organization has no such customer. */
  readonly insert: (interaction: Interaction) => Effect.Effect<boolean, never, CurrentActor>
  /** Applies a rule to the current interaction with the row locked. Undefined for an unknown one. */
  readonly change: (
    customerId: string,
    id: string,
    rule: (before: Interaction) => Interaction
  ) => Effect.Effect<Interaction | undefined, never, CurrentActor>
  /** False when the customer has no such interaction. */
  readonly remove: (customerId: string, id: string) => Effect.Effect<boolean, never, CurrentActor>
}>()("stoa/domain/customers/InteractionRepo") {}

const toChange = (
  type: Extract<Change["type"], `customers.${string}Interaction`>,
  payload: Interaction,
  before: Interaction | null
): Change => ({ type, entityType: "customer", entityId: payload.customerId, payload, before })

const writing = (sql: SqlClient.SqlClient) => {
  const insert = Effect.fn("InteractionRepo.insert")(function*(i: Interaction) {
    const actor = yield* CurrentActor
    // The lock prevents a concurrent erasure of the customer.
    const rows = yield* sql`with owner as materialized (select id from customers where id = ${i.customerId}::uuid
        and organization_id = ${actor.organizationId} and erased_at is null for no key update),
      made as (insert into customer_interactions (id, organization_id, customer_id, kind, notes, related_entity_id,
          metadata, created_by, created_at, updated_at)
        select ${i.id}::uuid, ${actor.organizationId}, owner.id, ${i.kind}, ${i.notes}, ${i.relatedEntityId}::uuid,
          ${JSON.stringify(i.metadata)}::jsonb, ${i.createdBy}, ${i.createdAt}::timestamptz,
          ${i.updatedAt}::timestamptz from owner returning id),
      event as (${changeLogInsert(sql, actor, [toChange("customers.addInteraction", i, null)], "made")})${
      idempotencyRecord(sql, actor, "made")
    } select id from made`
    return rows.length === 1
  }, Effect.orDie)

  const change = Effect.fn("InteractionRepo.change")(
    function*(customerId: string, id: string, rule: (before: Interaction) => Interaction) {
      const actor = yield* CurrentActor
      const rows = yield* sql<InteractionRow>`select * from customer_interactions where id = ${id}::uuid
        and customer_id = ${customerId}::uuid and organization_id = ${actor.organizationId} for update`
      if (rows[0] === undefined) return undefined
      const before = toInteraction(rows[0])
      const i = rule(before)
      if (i === before) return i
      yield* sql`with event as (${changeLogInsert(sql, actor, [toChange("customers.changeInteraction", i, before)])})${
        idempotencyRecord(sql, actor)
      }
        update customer_interactions set kind = ${i.kind}, notes = ${i.notes},
          related_entity_id = ${i.relatedEntityId}::uuid, metadata = ${JSON.stringify(i.metadata)}::jsonb,
          updated_at = ${i.updatedAt}::timestamptz
        where id = ${id}::uuid and organization_id = ${actor.organizationId}`
      return i
    },
    sql.withTransaction,
    Effect.orDie
  )

  const remove = Effect.fn("InteractionRepo.remove")(
    function*(customerId: string, id: string) {
      const actor = yield* CurrentActor
      const rows = yield* sql<InteractionRow>`delete from customer_interactions where id = ${id}::uuid
      and customer_id = ${customerId}::uuid and organization_id = ${actor.organizationId} returning *`
      if (rows[0] === undefined) return false
      const gone = toInteraction(rows[0])
      yield* sql`with event as (${changeLogInsert(sql, actor, [toChange("customers.removeInteraction", gone, gone)])})${
        idempotencyRecord(sql, actor)
      } select 1`
      return true
    },
    sql.withTransaction,
    Effect.orDie
  )

  return { insert, change, remove }
}

/** `InteractionRepo` over the database of the process. */
export const interactionRepoLayer = Layer.effect(
  InteractionRepo,
  Effect.map(SqlClient.SqlClient, (sql) => {
    const list = Effect.fn("InteractionRepo.list")(function*(customerId: string, page: PageRequest) {
      const where = sql`customer_id = ${customerId}::uuid and organization_id = ${yield* currentOrganization}`
      const [rows, counted] = yield* Effect.all([
        sql<InteractionRow>`select * from customer_interactions where ${where} order by created_at desc, id desc
          limit ${page.limit} offset ${offsetOf(page)}`,
        sql<{ readonly count: bigint }>`select count(*) as count from customer_interactions where ${where}`
      ], { concurrency: "unbounded" })
      return { ...page, items: rows.map(toInteraction), total: Number(counted[0]?.count ?? 0) }
    }, Effect.orDie)

    return InteractionRepo.of({ list, ...writing(sql) })
  })
)
