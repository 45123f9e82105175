import { Context, Effect, Layer, type Result } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { CurrentActor, currentOrganization } from "../access/Actor.ts"
import { Conflict, NotFound, type ValidationFailed } from "../errors/ApiErrors.ts"
import { changeLogInsert } from "../events/ChangeLogRepo.ts"
import type { Change } from "../events/Event.ts"
import { deleteRecorded } from "../events/RecordedDeletionRepo.ts"
import { isSameRecord } from "../events/Unchanged.ts"
import { idempotencyRecord } from "../idempotency/IdempotencyRecordRepo.ts"
import { columnsOf } from "../modules/RecordColumns.ts"
import { ownPage } from "../paging/OwnPageRepo.ts"
import type { PageOf, PageRequest } from "../paging/Paging.ts"
import { ShippingZone } from "./ShippingZone.ts"

/** Shipping zones. Every change writes its change log entry in the same statement or transaction. */
export class ShippingZoneRepo extends Context.Service<ShippingZoneRepo, {
  /** A page in matching order, in two statements. */
  readonly list: (page: PageRequest) => Effect.Effect<PageOf<ShippingZone>, never, CurrentActor>
  readonly find: (id: string) => Effect.Effect<ShippingZone, NotFound, CurrentActor>
  /** Inserts a zone; 409 when another zone has the name. */
  readonly insert: (zone: ShippingZone) => Effect.Effect<void, Conflict, CurrentActor>
  /**
   * Changes a zone by a rule that gets the locked row. A rule without a change writes nothing. 404 for an unknown zone,
   * 409 if another zone has the name, 422 by the rule.
   */
  readonly change: (
    id: string,
    rule: (before: ShippingZone) => Result.Result<ShippingZone, ValidationFailed>
  ) => Effect.Effect<ShippingZone, NotFound | Conflict | ValidationFailed, CurrentActor>
  /** Deletes a zone; 409 while it has rates. */
  readonly remove: (id: string) => Effect.Effect<void, NotFound | Conflict, CurrentActor>
}>()("stoa/domain/shipping/ShippingZoneRepo") {}

const unknownZone = NotFound.of("Shipping zone not found.")

const source = { table: "shipping_zones", columns: columnsOf(ShippingZone.fields), order: "priority, id" }

const toChange = (
  type: Extract<Change["type"], `shippingZones.${string}`>,
  zone: ShippingZone,
  before: ShippingZone | null
): Change => ({ type, entityType: "shipping_zone", entityId: zone.id, payload: zone, before })

const orConflict = (error: SqlError.SqlError) => {
  const { reason } = error
  if (reason._tag === "UniqueViolation" && reason.constraint === "shipping_zones_name") {
    return Effect.fail(Conflict.of("A shipping zone with this name already exists."))
  }
  // The foreign key of the rates: a rate added concurrently keeps the zone.
  return reason._tag === "ConstraintError"
    ? Effect.fail(Conflict.of("There are rates in this zone. Delete them first."))
    : Effect.die(error)
}

const writing = (sql: SqlClient.SqlClient) => {
  const insert = Effect.fn("ShippingZoneRepo.insert")(function*(z: ShippingZone) {
    const actor = yield* CurrentActor
    yield* sql`with made as (
        insert into shipping_zones (id, organization_id, name, countries, states, priority, is_active, metadata,
          created_at, updated_at)
        values (${z.id}::uuid, ${z.organizationId}, ${z.name}, ${z.countries}::text[], ${z.states}::text[],
          ${z.priority}::int, ${z.isActive}, ${JSON.stringify(z.metadata)}::jsonb, ${z.createdAt}::timestamptz,
          ${z.updatedAt}::timestamptz) returning id),
      entry as (${changeLogInsert(sql, actor, [toChange("shippingZones.create", z, null)], "made")})${
      idempotencyRecord(sql, actor, "made")
    } select id from made`
  }, Effect.catchTag("SqlError", orConflict))

  const change = Effect.fn("ShippingZoneRepo.change")(
    function*(id: string, rule: (before: ShippingZone) => Result.Result<ShippingZone, ValidationFailed>) {
      const actor = yield* CurrentActor
      const [before] = yield* sql<ShippingZone>`select ${sql.literal(source.columns)} from shipping_zones
        where id = ${id}::uuid and organization_id = ${actor.organizationId} for update`
      if (before === undefined) return yield* unknownZone
      const z = yield* Effect.fromResult(rule(before))
      if (isSameRecord(before, z)) return before
      yield* sql`with entry as (${changeLogInsert(sql, actor, [toChange("shippingZones.update", z, before)])})${
        idempotencyRecord(sql, actor)
      }
        update shipping_zones set name = ${z.name}, countries = ${z.countries}::text[], states = ${z.states}::text[],
          priority = ${z.priority}::int, is_active = ${z.isActive}, metadata = ${JSON.stringify(z.metadata)}::jsonb,
          updated_at = ${z.updatedAt}::timestamptz
        where id = ${id}::uuid and organization_id = ${actor.organizationId}`
      return z
    },
    sql.withTransaction,
    Effect.catchTag("SqlError", orConflict)
  )

  const remove = Effect.fn("ShippingZoneRepo.remove")(function*(id: string) {
    const change = (deleted: ShippingZone) => toChange("shippingZones.delete", deleted, deleted)
    if ((yield* deleteRecorded(sql, source, id, change)) === undefined) return yield* unknownZone
  }, Effect.catchTag("SqlError", orConflict))

  return { insert, change, remove }
}

/** `ShippingZoneRepo` over the database. */
export const shippingZoneRepoLayer = Layer.effect(
  ShippingZoneRepo,
  Effect.map(SqlClient.SqlClient, (sql) => {
    const find = Effect.fn("ShippingZoneRepo.find")(function*(id: string) {
      const rows = yield* sql<ShippingZone>`select ${sql.literal(source.columns)} from shipping_zones
        where id = ${id}::uuid and organization_id = ${yield* currentOrganization}`
      return rows[0] ?? (yield* unknownZone)
    }, Effect.catchTag("SqlError", Effect.die))

    const list = Effect.fn("ShippingZoneRepo.list")((page: PageRequest) =>
      Effect.orDie(ownPage<ShippingZone>(sql, source, page))
    )

    return ShippingZoneRepo.of({ find, list, ...writing(sql) })
  })
)
