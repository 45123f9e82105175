import { Effect } from "effect"
import type { SqlClient } from "effect/sql"

/** A person to redact from the change log of an organization, and the records that their entries are about. */
export interface Redaction {
  readonly organizationId: string
  readonly customerId: string
  readonly orderIds: ReadonlyArray<string>
  readonly cartIds: ReadonlyArray<string>
  /** Ids of records that belong to their orders, by the change log's name for the kind. */
  readonly others: ReadonlyArray<{ readonly entityType: string; readonly ids: ReadonlyArray<string> }>
  /** Their login: the client address and program are removed from all changes they made. */
  readonly actorId: string
}

/**
 * Selects entries by subject and by author: for a purged cart only the entry still names its customer. Entries without
 * a position are in another index.
 */
const entriesOf = (sql: SqlClient.SqlClient, redaction: Redaction) => {
  const { actorId, cartIds, customerId, orderIds, organizationId, others } = redaction
  const kinds = [
    { entityType: "customer", ids: [customerId] },
    { entityType: "order", ids: orderIds },
    { entityType: "cart", ids: cartIds },
    ...others
  ]
  const concerned = kinds.map(({ entityType, ids }) =>
    sql`(entity_type = ${entityType} and entity_id = any(${[...ids]}::text[]))`
  )
  const about = kinds.map(({ entityType, ids }) =>
    sql`select id, true as about from outbox_events where organization_id = ${organizationId} and position is not null
      and entity_type = ${entityType} and entity_id = any(${[...ids]}::text[]) union all`
  )
  return sql`${sql.join(" ", false)(about)} select id,
        entity_type in ('order', 'cart') and payload->>'customerId' = ${customerId}
      from outbox_events where organization_id = ${organizationId} and position is not null and actor_id = ${actorId}
    union all select id, ${sql.or(concerned)}
      from outbox_events where position is null and organization_id = ${organizationId}`
}

/**
 * Removes a person from the change log within the transaction that erases them, and returns how many entries it
 * changed. Waits for the relay, which locks the cursor.
 */
export const redactChangeLog = Effect.fnUntraced(function*(sql: SqlClient.SqlClient, redaction: Redaction) {
  const { actorId, organizationId } = redaction
  yield* sql`insert into outbox_cursors as h (organization_id) values (${organizationId})
    on conflict (organization_id) do update set organization_id = excluded.organization_id`
  yield* sql`select set_config('stoa.outbox_redaction', 'on', true)`
  const rows = yield* sql`with
    mine as materialized (select id, coalesce(bool_or(about), false) as about from (${
    entriesOf(sql, redaction)
  }) x group by id),
    redacted as materialized (
      select e.id, case when mine.about then outbox_anonymous(e.payload) else e.payload end as payload,
        case when mine.about then outbox_anonymous(e.before) else e.before end as before
      from mine join outbox_events e on e.id = mine.id
      where mine.about or e.actor_id = ${actorId})
    update outbox_events e set payload = n.payload, before = n.before, ip = null, user_agent = null
      from redacted n where e.id = n.id and (e.ip is not null or e.user_agent is not null
        or e.payload <> n.payload or e.before is distinct from n.before)
      returning 1`
  yield* sql`select set_config('stoa.outbox_redaction', '', true)`
  return rows.length
})
