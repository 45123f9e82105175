import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, currentOrganization } from "../../access/Actor.ts"
import { isoTime, journalRows } from "../../events/JournalRepo.ts"
import type { DueChange, PublishingSchedule, ScheduledChange } from "./Schedule.ts"

/** Moments as they are to be; null is none. */
export interface Moments {
  readonly publishAt: Date | null
  readonly unpublishAt: Date | null
}

/** Schedules of entities, at most one each. Lock order: the entity, then its schedule. */
export class ScheduleRepo extends Context.Service<ScheduleRepo, {
  /** Undefined when there is no such entity; without moments where nothing is scheduled. */
  readonly find: (entityId: string) => Effect.Effect<PublishingSchedule | undefined, never, CurrentActor>
  /** Replaces the schedule; undefined when there is no such entity. */
  readonly set: (
    entityId: string,
    moments: Moments
  ) => Effect.Effect<PublishingSchedule | undefined, never, CurrentActor>
  /** Changes of every organization whose moment has come, oldest first. */
  readonly due: (now: Date, limit: number) => Effect.Effect<ReadonlyArray<DueChange>>
  /** Inside of a transaction: locks the entity and takes the moment away. False: it is another one by now, or done. */
  readonly claim: (due: DueChange) => Effect.Effect<boolean, never, CurrentActor>
  /** Takes the moment away and says why nothing came of it. */
  readonly refuse: (due: DueChange, refusal: string) => Effect.Effect<void, never, CurrentActor>
}>()("stoa/domain/catalog/schedules/ScheduleRepo") {
  static readonly layer = Layer.effect(ScheduleRepo, Effect.map(SqlClient.SqlClient, (sql) => make(sql)))
}

interface ScheduleRow {
  readonly entity_id: string
  readonly publish_at: Date | null
  readonly unpublish_at: Date | null
  readonly refusal: string | null
  readonly scheduled_by: string | null
}

const toSchedule = (row: ScheduleRow): PublishingSchedule => ({
  entityId: row.entity_id,
  publishAt: row.publish_at,
  unpublishAt: row.unpublish_at,
  refusal: row.refusal,
  scheduledBy: row.scheduled_by
})

const scheduleJson = (row: string, named = row) =>
  `jsonb_build_object('id', ${named}.entity_id, 'publishAt', ${isoTime(`${row}.publish_at`)},
    'unpublishAt', ${isoTime(`${row}.unpublish_at`)})`

const columns = { publish: "publish_at", unpublish: "unpublish_at" } as const

const make = (sql: SqlClient.SqlClient): ScheduleRepo["Service"] => {
  const find = Effect.fn("ScheduleRepo.find")(function*(entityId: string) {
    const organization = yield* currentOrganization
    const [row] = yield* sql<
      ScheduleRow
    >`select e.id as entity_id, s.publish_at, s.unpublish_at, s.refusal, s.scheduled_by
      from catalog_entities e left join entity_schedules s on s.entity_id = e.id
        and s.organization_id = e.organization_id
      where e.id = ${entityId}::uuid and e.organization_id = ${organization}`
    return row === undefined ? undefined : toSchedule(row)
  }, Effect.orDie)

  const set = Effect.fn("ScheduleRepo.set")(function*(entityId: string, { publishAt, unpublishAt }: Moments) {
    const actor = yield* CurrentActor
    // What is not scheduled needs no row; one that is there stays, and says who emptied it.
    const isEmpty = publishAt === null && unpublishAt === null
    const by = actor.userId ?? actor.keyId ?? null
    // The insert looks at the old row, which is therefore read before it is written.
    const [row] = yield* sql<ScheduleRow>`with entity as (select e.id, e.organization_id from catalog_entities e
        where e.id = ${entityId}::uuid and e.organization_id = ${actor.organizationId} for no key update of e),
      old as (select s.* from entity n join entity_schedules s on s.entity_id = n.id for update of s),
      written as (
        insert into entity_schedules (entity_id, organization_id, publish_at, unpublish_at, scheduled_by)
        select n.id, n.organization_id, ${publishAt}::timestamptz, ${unpublishAt}::timestamptz, ${by}
          from entity n left join old o on true
          where not ${isEmpty}::boolean or o.entity_id is not null
        on conflict (entity_id) do update set publish_at = excluded.publish_at, unpublish_at = excluded.unpublish_at,
          refusal = null, scheduled_by = excluded.scheduled_by, updated_at = now()
        returning *),
      entry as (${
      journalRows(sql, actor, {
        type: "catalog.schedule",
        entityType: "catalog_entity",
        entityId: "x.entity_id::text",
        payload: scheduleJson("x"),
        before: scheduleJson("o", "x"),
        from: "written x left join old o on true"
      })
    })
      select n.id as entity_id, w.publish_at, w.unpublish_at, w.refusal, w.scheduled_by
      from entity n left join written w on true`
    return row === undefined ? undefined : toSchedule(row)
  }, Effect.orDie)

  /** Only while it is the moment that was found: one that was set anew meanwhile is not taken for the old one. */
  const taken = (organization: string, { at, change, entityId }: DueChange, refusal: string | null) => {
    const column = sql(columns[change])
    return sql`update entity_schedules set ${column} = null, refusal = coalesce(${refusal}, refusal), updated_at = now()
      where entity_id = ${entityId}::uuid and organization_id = ${organization} and ${column} = ${at}::timestamptz
      returning 1`
  }

  const claim = Effect.fn("ScheduleRepo.claim")(function*(change: DueChange) {
    const organization = yield* currentOrganization
    yield* sql`select 1 from catalog_entities
      where id = ${change.entityId}::uuid and organization_id = ${organization} for no key update`
    return (yield* taken(organization, change, null)).length === 1
  }, Effect.orDie)

  const refuse = Effect.fn("ScheduleRepo.refuse")(function*(change: DueChange, refusal: string) {
    yield* taken(yield* currentOrganization, change, refusal)
  }, Effect.orDie)

  return { find, set, due: makeDue(sql), claim, refuse }
}

const makeDue = (sql: SqlClient.SqlClient) =>
  Effect.fn("ScheduleRepo.due")(function*(now: Date, limit: number) {
    interface Row {
      readonly organization_id: string
      readonly entity_id: string
      readonly change: ScheduledChange
      readonly at: Date
    }
    // Of every organization: one task of the deployment carries out what is due.
    const rows = yield* sql<Row>`(select organization_id, entity_id, 'publish' as change, publish_at as at
      from entity_schedules where publish_at <= ${now}::timestamptz order by publish_at limit ${limit}::int4)
    union all
    (select organization_id, entity_id, 'unpublish', unpublish_at
      from entity_schedules where unpublish_at <= ${now}::timestamptz order by unpublish_at limit ${limit}::int4)
    order by at, entity_id limit ${limit}::int4`
    return rows.map(({ at, change, entity_id, organization_id }) => ({
      organizationId: organization_id,
      entityId: entity_id,
      change,
      at
    }))
  }, Effect.orDie)
