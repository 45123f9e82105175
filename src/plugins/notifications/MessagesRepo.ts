import { Effect, Schema, Struct } from "effect"
import { CustomerId, fieldsOf, newId, type PluginDatabase, rowsOf, statement } from "stoa/plugin"
import { type Message, messages } from "./Log.ts"

type About = "channel" | "event" | "category" | "eventId" | "templateId" | "customerId"

/** A message as it is queued; one with an `error` cannot be sent at all. */
export interface NewMessage extends Pick<Message, About | "subject" | "body" | "metadata" | "error" | "nextAt"> {
  readonly recipient: string
  /** The receiver got too many messages. */
  readonly isSuppressed?: boolean
  /** The open message of its digest. */
  readonly groupId: string | null
}

const ids = rowsOf(Schema.Struct({ id: Schema.String }))

/** Queues messages in one statement; those that their event has queued before are left out. Gives the ids of new ones. */
export const queueMessages = statement(
  "Messages.queue",
  function*(sql, organizationId, rows: ReadonlyArray<NewMessage>) {
    const given = rows.map((row) => ({ id: newId(), ...row }))
    const queued = yield* ids(sql`insert into notification_log (id, organization_id, channel, event, category, event_id,
        template_id, customer_id, recipient, subject, body, metadata, status, error, next_at, group_id)
      select i.id, ${organizationId}, i.channel, i.event, i.category, i."eventId", i."templateId",
        i."customerId", i.recipient, i.subject, i.body, i.metadata, case when i."isSuppressed" then 'suppressed' when i.error is null then 'queued' else 'failed' end,
        i.error, i."nextAt", coalesce(i."groupId", i.id)
      from jsonb_to_recordset(${JSON.stringify(given)}::jsonb) i (id uuid, channel text, event text, category text,
        "eventId" uuid, "templateId" uuid, "customerId" uuid, recipient text, subject text, body text, metadata jsonb,
        error text, "isSuppressed" boolean, "nextAt" timestamptz, "groupId" uuid)
      on conflict do nothing returning id`)
    return queued.map(({ id }) => id)
  }
)

/** The message that collects a digest for a recipient, locked so that it is not sent before another one is added. */
export const openDigest = statement(
  "Messages.openDigest",
  function*(sql, organizationId, templateId: string, recipient: string, now: Date) {
    const [open] = yield* ids(sql`select id from notification_log
      where organization_id = ${organizationId} and template_id = ${templateId}::uuid
        and recipient = ${recipient} and status = 'queued' and group_id = id and attempts = 0 and next_at > ${now}
      order by id limit 1 for update`)
    return open?.id ?? null
  }
)

/** A message that is due, with the texts of its digest in their order. */
const Due = Schema.Struct({
  ...Struct.pick(fieldsOf(messages), ["id", "channel", "eventId", "templateId"]),
  category: Schema.NullOr(Schema.String),
  recipient: Schema.NullOr(Schema.String),
  // What is filled in may be empty.
  subject: Schema.NullOr(Schema.String),
  attempts: Schema.Int,
  bodies: Schema.Array(Schema.String),
  /** The adapter that may have sent it in a try whose end is not known. */
  triedBy: Schema.NullOr(Schema.String)
})
export type Due = typeof Due.Type

const dues = rowsOf(Due)

/** When a batch is taken and until when, how many messages it has, and the adapter that each channel begins with. */
export interface Claim {
  readonly now: Date
  readonly lease: Date
  readonly limit: number
  readonly adapters: Readonly<Record<string, string>>
}

/**
 * Takes messages that are due, until `lease`: of processes at the same time one gets each, and another one takes over what
 * a killed process had. The adapter that is asked first is written down with it. One statement for a batch.
 */
export const claimMessages = statement(
  "Messages.claim",
  function*(sql, organizationId, { adapters, lease, limit, now }: Claim) {
    return yield* dues(sql`with lead as (select id, provider_id from notification_log
        where organization_id = ${organizationId} and status = 'queued' and group_id = id and next_at <= ${now}
        order by next_at limit ${limit} for update skip locked),
      taken as (update notification_log l set attempts = l.attempts + 1, next_at = ${lease}, updated_at = ${now},
          provider_id = coalesce(l.provider_id, ${JSON.stringify(adapters)}::jsonb->>l.channel)
        from lead where l.organization_id = ${organizationId} and l.group_id = lead.id and l.status = 'queued'
        returning l.*)
      select t.id, t.channel, t.category, t.event_id as "eventId", t.template_id as "templateId", t.recipient, t.subject, lead.provider_id as "triedBy", t.attempts, m.bodies
      from taken t join lead on lead.id = t.id cross join lateral (select coalesce(array_agg(m.body order by m.created_at, m.id), '{}') as bodies
        from taken m where m.group_id = t.id and m.body is not null) m`)
  }
)

type Outcome = "status" | "providerId" | "adapterMessageId" | "error" | "nextAt"

/** What became of a message that was taken; until `nextAt` it is still being sent, or waits. */
export interface Settled extends Pick<Message, "id" | "attempts" | Outcome> {
  /** It was not tried: the count of tries goes back to this. */
  readonly untried?: number
}

/** What became of a message: as the last try left it, but for what is said. */
export const settledAs = (
  { attempts, id, triedBy }: Due,
  rest: Pick<Settled, "nextAt" | "status"> & Partial<Settled>
): Settled => ({ id, attempts, providerId: triedBy, adapterMessageId: null, error: null, ...rest })

/** Writes what became of messages, in one statement. What another process has taken over since then is left to it. */
export const settleMessages = statement(
  "Messages.settle",
  function*(sql, organizationId, settled: ReadonlyArray<Settled>, now: Date) {
    yield* sql`update notification_log l set status = i.status, provider_id = i."providerId", error = i.error,
        attempts = coalesce(i.untried, l.attempts), adapter_message_id = i."adapterMessageId", next_at = i."nextAt", updated_at = ${now}
      from jsonb_to_recordset(${JSON.stringify(settled)}::jsonb) i (id uuid, attempts int4, untried int4, status text,
        "providerId" text, "adapterMessageId" text, error text, "nextAt" timestamptz)
      where l.organization_id = ${organizationId} and l.group_id = i.id and l.attempts = i.attempts
        and l.status = 'queued'`
  }
)

/** Deletes what is personal of up to `limit` messages that are done and older; gives how many there were. */
export const forgetMessages = statement("Messages.forget", function*(sql, organizationId, before: Date, limit: number) {
  const rows = yield* ids(sql`update notification_log set recipient = null, subject = null, body = null, metadata = null
      where organization_id = ${organizationId} and id = any(array(select id from notification_log
        where organization_id = ${organizationId} and created_at < ${before} and recipient is not null
          and status <> 'queued' order by created_at limit ${limit} for update skip locked)) returning id`)
  return rows.length
})

/** Deletes what is personal of messages of customers who were erased since then; those that wait are neither sent nor printed. */
export const forgetErased = statement("Messages.forgetErased", function*(sql, organizationId, since: Date) {
  const erased = sql`customer_id = any(array(select id from plugin_customers
      where organization_id = ${organizationId} and erased_at >= ${since}))`
  yield* sql`update notification_print_jobs p set content = '{}',
        status = case when p.status in ('queued', 'printing') then 'failed' else p.status end
      from notification_log l where p.organization_id = ${organizationId} and p.content <> '{}'
        and l.id = p.message_id and l.organization_id = p.organization_id and l.recipient is not null and l.${erased}`
  yield* sql`update notification_log set recipient = null, subject = null, body = null, metadata = null,
        error = case status when 'queued' then 'The customer was erased.' else error end,
        status = case status when 'queued' then 'failed' else status end
      where organization_id = ${organizationId} and recipient is not null and ${erased}`
  yield* sql`delete from notification_preferences where organization_id = ${organizationId} and ${erased}`
})

/** Whom an event is about: a customer, a guest with the address of their order, or no one who can be written to. */
const Concerned = Schema.Struct({
  id: Schema.NullOr(CustomerId),
  email: Schema.NullOr(Schema.String),
  phone: Schema.NullOr(Schema.String),
  firstName: Schema.NullOr(Schema.String),
  lastName: Schema.NullOr(Schema.String),
  locale: Schema.NullOr(Schema.String)
})
export type Concerned = typeof Concerned.Type

const concerned = rowsOf(Concerned)

/** The customer of this id, login or order, or the guest who placed it; undefined for customers who are erased or unknown. */
export const concernedOf = statement(
  "Messages.concerned",
  function*(
    sql,
    organizationId,
    { customerId, login = null, orderId }: {
      readonly customerId: string | null
      readonly login?: string | null
      readonly orderId: string | null
    }
  ) {
    const [found] = yield* concerned(sql`select p.id, p.phone, p.first_name as "firstName", p.last_name as "lastName",
        p.metadata->>'locale' as locale,
        case when coalesce(named.id, o.customer_id) is null then o.email else p.email end as email
      from (select coalesce((select c.id from plugin_customers c
          where c.organization_id = ${organizationId} and c.user_id = ${login} and c.erased_at is null),
          ${customerId}::uuid) as id) named
      left join plugin_orders o on o.organization_id = ${organizationId} and o.id = ${orderId}::uuid
      left join plugin_customers p on p.organization_id = ${organizationId} and p.erased_at is null
        and p.id = coalesce(named.id, o.customer_id)
      where p.id is not null or coalesce(named.id, o.customer_id) is null`)
    return found
  }
)

/** Whether an order has been paid, by its id. */
export const isPaid = statement("Messages.isPaid", function*(sql, organizationId, orderId: string) {
  const paid = yield* ids(sql`select id from plugin_orders where organization_id = ${organizationId}
    and id = ${orderId}::uuid and (amount_captured is not null or status not in ('pending', 'cancelled'))`)
  return paid.length > 0
})

/** What is unread of an inbox: how many messages, and the id of the last one. */
const Unread = Schema.Struct({
  customerId: Schema.String,
  unread: Schema.Int,
  latest: Schema.NullOr(Schema.String)
})
export type Unread = typeof Unread.Type

const unreads = rowsOf(Unread)

/** What is unread of these customers, of any organizations, in one statement. */
export const unreadOf = Effect.fn("Messages.unread")(
  function*(
    { sql }: Pick<PluginDatabase, "sql">,
    owners: ReadonlyArray<{ readonly organizationId: string; readonly customerId: CustomerId }>
  ) {
    return yield* unreads(sql`select i.id as "customerId", count(l.id)::int4 as unread, max(l.id::text) as latest
      from unnest(${owners.map(({ organizationId }) => organizationId)}::text[],
          ${owners.map(({ customerId }) => customerId)}::uuid[]) as i(organization, id)
        left join notification_log l on l.organization_id = i.organization and l.customer_id = i.id
          and l.channel = 'in_app' and l.status = 'delivered' and l.read_at is null
      group by i.id`)
  },
  Effect.orDie
)

const Latest = Schema.Struct({ eventId: Schema.String, record: Schema.Record(Schema.String, Schema.Unknown) })

const latest = rowsOf(Latest)

/** The records of these events as their last relayed event shows them, in one statement; none whose entry was purged. */
export const latestRecords = statement(
  "Conditions.latest",
  function*(sql, organizationId, eventIds: ReadonlyArray<string>) {
    return yield* latest(sql`select e.id as "eventId", newest.payload as record
      from plugin_events e cross join lateral (select x.payload from plugin_events x
        where x.organization_id = e.organization_id and x.entity_type = e.entity_type and x.entity_id = e.entity_id
          and x.position is not null
        order by x.created_at desc, x.entry_number desc limit 1) newest
      where e.organization_id = ${organizationId} and e.id = any(${eventIds}::uuid[])`)
  }
)
