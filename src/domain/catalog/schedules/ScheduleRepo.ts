import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, currentOrganization } from "../../platform/access/Actor.ts"
import { changeLogRows, isoTime } from "../../platform/events/ChangeLogRepo.ts"
import type { EntityId } from "../../platform/ids/Id.ts"
import { decoding } from "../../platform/records/Rows.ts"
import { columnsOf } from "../../platform/records/Table.ts"
import { entitySchedules } from "../CatalogTables.ts"
import { EntityNotFound } from "../Entity.ts"
import { DueChange, PublishingSchedule } from "./Schedule.ts"

export type Moments = Pick<PublishingSchedule, "publishAt" | "unpublishAt">

/** Schedules of entities, at most one each. Lock order: the entity, then its schedule. */
export class ScheduleRepo extends Context.Service<ScheduleRepo>()("stoa/domain/catalog/schedules/ScheduleRepo", {
  make: Effect.map(SqlClient.SqlClient, (sql) => make(sql))
}) {
  static readonly layer = Layer.effect(ScheduleRepo, ScheduleRepo.make)
}

const columnList = columnsOf(PublishingSchedule.fields, "s", { entityId: "e.id" })

const scheduleJson = (row: string, named = row) =>
  `jsonb_build_object('id', ${named}.entity_id, 'publishAt', ${isoTime(`${row}.publish_at`)},
    'unpublishAt', ${isoTime(`${row}.unpublish_at`)})`

const columns = { publish: "publish_at", unpublish: "unpublish_at" } as const

const make = (sql: SqlClient.SqlClient) => {
  const schedules = decoding(sql, PublishingSchedule)

  const find = Effect.fn("ScheduleRepo.find")(function*(entityId: EntityId) {
    const organization = yield* currentOrganization
    const [schedule] = yield* schedules`select ${sql.literal(columnList)}
      from catalog_entities e left join entity_schedules s on s.entity_id = e.id
        and s.organization_id = e.organization_id
      where e.id = ${entityId}::uuid and e.organization_id = ${organization}`
    return schedule ?? (yield* new EntityNotFound())
  }, Effect.catchTag("SqlError", Effect.die))

  const set = Effect.fn("ScheduleRepo.set")(function*(entityId: EntityId, { publishAt, unpublishAt }: Moments) {
    const actor = yield* CurrentActor
    // An empty schedule needs no row; an existing row stays and records who emptied it.
    const isEmpty = publishAt === null && unpublishAt === null
    const by = actor.userId ?? actor.keyId ?? null
    const [schedule] = yield* schedules`with entity as (select e.id, e.organization_id from catalog_entities e
        where e.id = ${entityId}::uuid and e.organization_id = ${actor.organizationId} for no key update of e),
      old as (select s.* from entity n join entity_schedules s on s.entity_id = n.id for update of s),
      written as (
        insert into entity_schedules ${
      entitySchedules.insert(sql, {
        entityId: "n.id",
        organizationId: "n.organization_id",
        publishAt: sql`${publishAt}::timestamptz`,
        unpublishAt: sql`${unpublishAt}::timestamptz`,
        scheduledBy: sql`${by}`
      })
    } from entity n left join old o on true
          where not ${isEmpty}::boolean or o.entity_id is not null
        on conflict (entity_id) do update set publish_at = excluded.publish_at, unpublish_at = excluded.unpublish_at,
          refusal = null, scheduled_by = excluded.scheduled_by, updated_at = now()
        returning *),
      entry as (${
      changeLogRows(sql, actor, {
        type: "catalog.schedule",
        entityType: "catalog_entity",
        entityId: "x.entity_id::text",
        payload: scheduleJson("x"),
        before: scheduleJson("o", "x"),
        from: "written x left join old o on true"
      })
    })
      select ${sql.literal(columnList)} from entity e left join written s on true`
    return schedule ?? (yield* new EntityNotFound())
  }, Effect.catchTag("SqlError", Effect.die))

  const clear = (organization: string, { at, change, entityId }: DueChange, refusal: string | null) => {
    const column = sql(columns[change])
    return sql`update entity_schedules set ${column} = null, refusal = coalesce(${refusal}, refusal), updated_at = now()
      where entity_id = ${entityId}::uuid and organization_id = ${organization} and ${column} = ${at}::timestamptz
      returning 1`
  }

  /** Inside a transaction: locks the entity and clears the time. False when the time has changed or is done. */
  const claim = Effect.fn("ScheduleRepo.claim")(function*(change: DueChange) {
    const organization = yield* currentOrganization
    yield* sql`select 1 from catalog_entities
      where id = ${change.entityId}::uuid and organization_id = ${organization} for no key update`
    return (yield* clear(organization, change, null)).length === 1
  }, Effect.orDie)

  const refuse = Effect.fn("ScheduleRepo.refuse")(function*(change: DueChange, refusal: string) {
    yield* clear(yield* currentOrganization, change, refusal)
  }, Effect.orDie)

  return { find, set, due: makeDue(sql), claim, refuse }
}

const makeDue = (sql: SqlClient.SqlClient) =>
  Effect.fn("ScheduleRepo.due")(function*(now: Date, limit: number) {
    // Of every organization: one task of the deployment runs what is due.
    return yield* decoding(
      sql,
      DueChange
    )`select organization_id as "organizationId", entity_id as "entityId", change, at from (
      (select organization_id, entity_id, 'publish' as change, publish_at as at
        from entity_schedules where publish_at <= ${now}::timestamptz order by publish_at limit ${limit}::int4)
      union all
      (select organization_id, entity_id, 'unpublish', unpublish_at
        from entity_schedules where unpublish_at <= ${now}::timestamptz order by unpublish_at limit ${limit}::int4)) due
      order by at, entity_id limit ${limit}::int4`
  }, Effect.orDie)
