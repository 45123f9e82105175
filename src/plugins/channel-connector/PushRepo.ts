import { Schema } from "effect"
import { EntityId, rowsOf, statement } from "stoa/plugin"
import { pushStates } from "./PushTables.ts"
import type { Agreed } from "./StoreTables.ts"

/** Marks products of a store as changed; null: all of them. Those that the store no longer has are left out. */
export const markChanged = statement(
  "PushRepo.markChanged",
  function*(sql, organizationId, storeId: string, entityIds: ReadonlyArray<string> | null, now: Date) {
    yield* sql`insert into channel_catalog_pushes (id, organization_id, store_id, entity_id, state, attempts, due_at)
      select gen_random_uuid(), organization_id, store_id, entity_id, 'pending', 0, ${now.toISOString()}::timestamptz
      from (select distinct organization_id, store_id, entity_id from channel_entity_map
        where organization_id = ${organizationId} and store_id = ${storeId}::uuid and kind = 'entity' and is_pushed
          and gone_at is null
          and (${entityIds === null}::boolean or entity_id = any(${entityIds ?? []}::text[]::uuid[]))) mapped
      order by entity_id
      on conflict (organization_id, store_id, entity_id) where state <> 'abandoned'
        do update set due_at = excluded.due_at, attempts = 0`
  }
)

const Claimed = Schema.Struct({
  id: Schema.String,
  entityId: EntityId,
  state: Schema.Literals(pushStates),
  attempts: Schema.Int,
  /** In milliseconds. */
  dueAt: Schema.Finite
})
export type Claimed = typeof Claimed.Type
const claimed = rowsOf(Claimed)

interface Claim {
  readonly storeId: string
  /** Null: any. */
  readonly entityId: string | null
  readonly limit: number
  readonly now: Date
  readonly until: Date
}

/** Takes changed products of a store until a time; what another job has taken is left out. */
export const claimChanged = statement(
  "PushRepo.claimChanged",
  function*(sql, organizationId, { entityId, limit, now, storeId, until }: Claim) {
    return yield* claimed(sql`update channel_catalog_pushes set leased_until = ${until.toISOString()}::timestamptz
      where id = any(array(select id from channel_catalog_pushes
        where organization_id = ${organizationId} and store_id = ${storeId}::uuid and state <> 'abandoned'
          and due_at <= ${now.toISOString()}::timestamptz
          and (leased_until is null or leased_until <= ${now.toISOString()}::timestamptz)
          and (${entityId}::uuid is null or entity_id = ${entityId}::uuid)
        order by due_at, id limit ${limit} for update skip locked))
      returning id, entity_id as "entityId", state, attempts, (extract(epoch from due_at) * 1000)::float8 as "dueAt"`)
  }
)

const abandoned = rowsOf(Schema.Struct({ entityId: EntityId }))

/** Gives products back, due again at `next` unless they changed meanwhile. Returns changed ones whose push was abandoned. */
export const releaseClaims = statement(
  "PushRepo.releaseClaims",
  function*(sql, organizationId, rows: ReadonlyArray<{ id: string; dueAt: number; next: Date | null }>) {
    const sent = rows.map(({ dueAt, id, next }) => ({ id, due_at: new Date(dueAt).toISOString(), next }))
    const changed = yield* abandoned(sql`with claimed as (
        select push.id, push.entity_id, push.state, sent.next, push.due_at <> sent.due_at as changed
        from channel_catalog_pushes push
        join jsonb_to_recordset(${JSON.stringify(sent)}::jsonb) sent(id uuid, due_at timestamptz, next timestamptz)
          on sent.id = push.id
        where push.organization_id = ${organizationId} for update of push),
      released as (update channel_catalog_pushes push set leased_until = null, due_at = case
          when not claimed.changed then claimed.next when claimed.state <> 'abandoned' then push.due_at end
        from claimed where claimed.id = push.id)
      select entity_id as "entityId" from claimed where changed and state = 'abandoned'`)
    return changed.map(({ entityId }) => entityId)
  }
)

const moments = rowsOf(Schema.Struct({ at: Schema.NullOr(Schema.Finite) }))

/** When the next product of a store is due, in milliseconds; null: none is. */
export const nextChange = statement("PushRepo.nextChange", function*(sql, organizationId, storeId: string) {
  const [found] = yield* moments(
    sql`select (extract(epoch from min(greatest(due_at, leased_until))) * 1000)::float8 as at
    from channel_catalog_pushes
    where organization_id = ${organizationId} and store_id = ${storeId}::uuid and state <> 'abandoned'
      and due_at is not null`
  )
  return found?.at ?? null
})

/** Notes what both sides of products agree on, beside what they agreed on before. */
export const noteAgreed = statement(
  "PushRepo.noteAgreed",
  function*(
    sql,
    organizationId,
    rows: ReadonlyArray<{ readonly id: string; readonly agreed: Readonly<Record<string, Agreed>> }>
  ) {
    yield* sql`update channel_entity_map map set agreed = coalesce(map.agreed, '{}') || sent.agreed
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) sent(id uuid, agreed jsonb)
      where map.organization_id = ${organizationId} and map.id = sent.id
        and not coalesce(map.agreed, '{}') @> sent.agreed`
  }
)
