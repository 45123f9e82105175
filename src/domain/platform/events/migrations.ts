import { statements } from "../database/MigrationStatements.ts"

const content = ("id entry_number organization_id type entity_type entity_id payload before " +
  "actor_id actor_type request_id ip user_agent source created_at").split(" ")

const of = (row: string) => content.map((column) => `${row}.${column}`).join(", ")

const kept = (row: string) =>
  [...content.filter((column) => !["payload", "before", "ip", "user_agent"].includes(column)), "position"]
    .concat("event_sequence").map((column) => `${row}.${column}`).join(", ")

/** In any spelling: `apiKey`, `api_key`, `paymentMethodToken`. */
const secretKey = "(passw(or)?d|passphrase|secret|token|api_?key|private_?key|authorization|card_?number|cvc|cvv" +
  "|bank_?account|iban)"

/** In the text of JSON: such a key, escapes in it included, whose value is not null. */
const secretMember = `"(\\\\.|[^"\\\\])*${secretKey}(\\\\.|[^"\\\\])*": (?!null)`

const tables = [
  /* Entries are numbered after their rows are locked: of two changes of a record, the later has the greater number. */
  `create table outbox_events (
    id uuid primary key,
    entry_number bigint generated always as identity,
    organization_id text not null,
    type text not null,
    entity_type text not null,
    entity_id text not null,
    payload jsonb not null,
    before jsonb,
    actor_id text,
    actor_type text not null check (actor_type in ('user', 'api_key')),
    request_id text,
    ip text,
    user_agent text,
    source text not null check (source in ('rest', 'local', 'job')),
    created_at timestamptz not null default clock_timestamp(),
    position bigint,
    event_sequence bigint,
    check (event_sequence is null or position is not null)
  )`,
  // Writers maintain only this and the primary key; other indexes get an entry with the position.
  `create index outbox_events_waiting on outbox_events (entry_number) where position is null`,
  `create unique index outbox_events_position on outbox_events (organization_id, position)
    where position is not null`,
  `create unique index outbox_events_sequence on outbox_events (organization_id, event_sequence)
    where event_sequence is not null`,
  `create index outbox_events_time on outbox_events (organization_id, created_at, entry_number)
    where position is not null`,
  `create index outbox_events_entity on outbox_events
    (organization_id, entity_type, entity_id, created_at, entry_number) where position is not null`,
  `create index outbox_events_type on outbox_events (organization_id, type, created_at, entry_number)
    where position is not null`,
  `create index outbox_events_actor on outbox_events (organization_id, actor_id, created_at, entry_number)
    where position is not null`,
  // Last position, sequence and purged position.
  `create table outbox_cursors (
    organization_id text primary key,
    position bigint not null default 0,
    event_sequence bigint not null default 0,
    purged_position bigint not null default 0 check (purged_position <= position)
  ) with (fillfactor = 50)`
]

const personalKeys = ("email phone firstName lastName userId shippingAddress line1 line2 " +
  "city state postalCode country notes trackingNumber trackingUrl").split(" ")

/** Metadata keys of the service; all others hold user input. */
const impersonalMetadata = ("cartId checkoutId paymentIntentId promotionCodes " +
  "appliedPromotions shippingMethod shippingRateId walkIn").split(" ")

const texts = (list: ReadonlyArray<string>) => `array[${list.map((text) => `'${text}'`).join(", ")}]`

const anonymous = [
  `create function metadata_anonymous(doc jsonb) returns jsonb language sql immutable as $$
    select case jsonb_typeof(doc) when 'object' then
      (select coalesce(jsonb_object_agg(key, value), '{}') from jsonb_each(doc) where key = any(${
    texts(impersonalMetadata)
  }))
      else '{}' end $$`,
  // The service's reasons are words joined by underscores; other text may name a person.
  `create function reason_anonymous(reason text) returns text language sql immutable as $$
    select case when reason ~ '^[a-z]+(_[a-z]+)+$' then reason else 'erased' end $$`,
  `create function outbox_anonymous(doc jsonb) returns jsonb language plpgsql immutable as $$
    begin
      return case jsonb_typeof(doc)
        when 'object' then (select coalesce(jsonb_object_agg(key, case
            when key = any(${texts(personalKeys)}) then 'null'::jsonb
            when key = 'metadata' then metadata_anonymous(value)
            when key = 'note' and jsonb_typeof(value) = 'string' then 'null'::jsonb
            when key = 'reason' and jsonb_typeof(value) = 'string' then to_jsonb(reason_anonymous(value #>> '{}'))
            else outbox_anonymous(value) end), '{}') from jsonb_each(doc))
        when 'array' then (select coalesce(jsonb_agg(outbox_anonymous(value) order by n), '[]')
          from jsonb_array_elements(doc) with ordinality x(value, n))
        else doc end;
    end $$`
]

/** Strips secrets from every writer's records. */
const redaction = [
  `create function outbox_redacted(doc jsonb) returns jsonb language plpgsql immutable as $$
    begin
      return case jsonb_typeof(doc)
        when 'object' then (select coalesce(jsonb_object_agg(key, outbox_redacted(value)), '{}')
          from jsonb_each(doc) where key !~* '${secretKey}')
        when 'array' then (select coalesce(jsonb_agg(outbox_redacted(value) order by n), '[]')
          from jsonb_array_elements(doc) with ordinality x(value, n))
        else doc end;
    end $$`,
  `create function outbox_redact() returns trigger language plpgsql as $$
    begin
      new.payload := outbox_redacted(new.payload);
      new.before := outbox_redacted(new.before);
      return new;
    end $$`,
  // Skips the traversal for nearly all entries.
  `create trigger outbox_events_redact before insert on outbox_events for each row
    when (new.payload::text ~* '${secretKey}' or new.before::text ~* '${secretKey}')
    execute function outbox_redact()`
]

/* A secret that is null is none. Each order has one, and the traversal of its record took longer than all else. */
const absentSecrets = [
  `create or replace function outbox_redacted(doc jsonb) returns jsonb language plpgsql immutable as $$
    begin
      return case jsonb_typeof(doc)
        when 'object' then (select coalesce(jsonb_object_agg(key, outbox_redacted(value)), '{}')
          from jsonb_each(doc) where key !~* '${secretKey}' or value = 'null')
        when 'array' then (select coalesce(jsonb_agg(outbox_redacted(value) order by n), '[]')
          from jsonb_array_elements(doc) with ordinality x(value, n))
        else doc end;
    end $$`,
  `create or replace trigger outbox_events_redact before insert on outbox_events for each row
    when (new.payload::text ~* '${secretMember}' or new.before::text ~* '${secretMember}')
    execute function outbox_redact()`
]

const refusals = [
  `create function outbox_refuse() returns trigger language plpgsql as $$
    begin
      raise exception 'the change log only grows: % of % is refused', tg_op, tg_table_name
        using errcode = 'restrict_violation';
    end $$`,
  /* One update is allowed, if its transaction declares it: removing personal data and origin. */
  `create function outbox_change() returns trigger language plpgsql as $$
    begin
      if coalesce(current_setting('stoa.outbox_redaction', true), '') = 'on' and row(${
    kept("new")
  }) is not distinct from row(${kept("old")})
        and (new.payload = old.payload or new.payload = outbox_anonymous(old.payload))
        and (new.before is not distinct from old.before or new.before = outbox_anonymous(old.before))
        and new.ip is null and new.user_agent is null then
        return new;
      end if;
      raise exception 'the change log only grows: % of % is refused', tg_op, tg_table_name
        using errcode = 'restrict_violation';
    end $$`,
  `create trigger outbox_events_update before update on outbox_events for each row
    when (old.position is not null or new.position is null or row(${of("old")}) is distinct from row(${of("new")}))
    execute function outbox_change()`,
  `create trigger outbox_events_delete before delete on outbox_events for each row
    when (old.position is null or coalesce(current_setting('stoa.outbox_purge', true), '') <> 'on')
    execute function outbox_refuse()`,
  `create function outbox_purged_in_order() returns trigger language plpgsql as $$
    begin
      if exists (select 1 from (select organization_id, max(position) as last from gone group by 1) g
          left join outbox_cursors h using (organization_id)
          where g.last > coalesce(h.purged_position, 0) or exists (select 1 from outbox_events e
            where e.organization_id = g.organization_id and e.position <= h.purged_position)) then
        raise exception 'the change log is purged from its beginning, up to what its head says'
          using errcode = 'restrict_violation';
      end if;
      return null;
    end $$`,
  `create trigger outbox_events_purge after delete on outbox_events referencing old table as gone
    for each statement execute function outbox_purged_in_order()`,
  `create trigger outbox_events_truncate before truncate on outbox_events execute function outbox_refuse()`,
  `create trigger outbox_cursors_update before update on outbox_cursors for each row
    when (old.organization_id <> new.organization_id or new.position < old.position
      or new.event_sequence < old.event_sequence or new.purged_position < old.purged_position)
    execute function outbox_refuse()`,
  `create trigger outbox_cursors_delete before delete on outbox_cursors for each row execute function outbox_refuse()`,
  `create trigger outbox_cursors_truncate before truncate on outbox_cursors execute function outbox_refuse()`
]

/** Lets a redaction blank the columns that a plugin's table declares personal, beside the keys of the core. */
const blanking = [
  `create function outbox_blanked(doc jsonb, keys text[]) returns jsonb language plpgsql immutable as $$
    begin
      return case jsonb_typeof(doc)
        when 'object' then (select coalesce(jsonb_object_agg(key, case
            when key = any(keys) then 'null'::jsonb else outbox_blanked(value, keys) end), '{}') from jsonb_each(doc))
        when 'array' then (select coalesce(jsonb_agg(outbox_blanked(value, keys) order by n), '[]')
          from jsonb_array_elements(doc) with ordinality x(value, n))
        else doc end;
    end $$`,
  // The keys are unknown here, so the trigger checks the outcome: values inside of a document may only become null.
  `create function outbox_only_blanks(old_doc jsonb, new_doc jsonb) returns boolean language plpgsql immutable as $$
    begin
      return case
        when old_doc = new_doc then true
        when jsonb_typeof(old_doc) = 'object' and jsonb_typeof(new_doc) = 'object' then not exists (
          select 1 from jsonb_each(old_doc) o full join jsonb_each(new_doc) n on n.key = o.key
          where o.key is null or n.key is null
            or n.value <> 'null' and not outbox_only_blanks(o.value, n.value))
        when jsonb_typeof(old_doc) = 'array' and jsonb_typeof(new_doc) = 'array' then
          jsonb_array_length(old_doc) = jsonb_array_length(new_doc) and not exists (
            select 1 from jsonb_array_elements(old_doc) with ordinality o(value, place)
              join jsonb_array_elements(new_doc) with ordinality n(value, place) using (place)
            where n.value <> 'null' and not outbox_only_blanks(o.value, n.value))
        else false end;
    end $$`,
  `create function outbox_is_redacted(old_doc jsonb, new_doc jsonb) returns boolean language sql immutable as $$
    select new_doc is not distinct from old_doc
      or coalesce(outbox_only_blanks(outbox_anonymous(old_doc), new_doc) or outbox_only_blanks(old_doc, new_doc), false)
  $$`,
  `create or replace function outbox_change() returns trigger language plpgsql as $$
    begin
      if coalesce(current_setting('stoa.outbox_redaction', true), '') = 'on' and row(${
    kept("new")
  }) is not distinct from row(${kept("old")})
        and outbox_is_redacted(old.payload, new.payload) and outbox_is_redacted(old.before, new.before)
        and new.ip is null and new.user_agent is null then
        return new;
      end if;
      raise exception 'the change log only grows: % of % is refused', tg_op, tg_table_name
        using errcode = 'restrict_violation';
    end $$`
]

/** The change log (ADR 6): append-only by its triggers. */
export const migrations = {
  "0001_events": statements(...tables, ...anonymous, ...redaction, ...refusals),
  // Other modules may join these columns, so they stay.
  "0002_read_views": statements(
    `create view outbox_cursors_read as
      select organization_id, position, event_sequence, purged_position
      from outbox_cursors`,
    `create view outbox_events_read as
      select id, entry_number, organization_id, type, entity_type, entity_id, payload, before, actor_id, actor_type,
        request_id, ip, user_agent, source, created_at, position, event_sequence
      from outbox_events`
  ),
  // Unhandled events of subscriptions. A record's first has a job, which enqueues the next; a given-up one blocks no
  // other.
  "0003_event_dispatches": statements(
    `create table event_dispatches (
      organization_id text not null,
      subscription text not null,
      entity_type text not null,
      entity_id text not null,
      sequence bigint not null,
      event_id uuid not null,
      given_up boolean not null default false,
      touched_at timestamptz not null,
      primary key (organization_id, subscription, entity_type, entity_id, sequence)
    ) with (fillfactor = 70)`,
    `create index event_dispatches_age on event_dispatches (touched_at)`
  ),
  // Writers notify only while the relay rests: PostgreSQL serializes commits that notify.
  "0004_relay_rest": statements(
    `create table outbox_relay (
      one boolean primary key default true check (one),
      resting boolean not null
    )`,
    `insert into outbox_relay (resting) values (false)`,
    `create function outbox_written() returns trigger language plpgsql as $$
      begin
        if (select resting from outbox_relay) then
          perform pg_notify('stoa_change_log', '');
        end if;
        return null;
      end $$`,
    `create trigger outbox_events_written after insert on outbox_events for each statement
      execute function outbox_written()`
  ),
  "0005_blanked_columns": statements(...blanking),
  "0006_absent_secrets": statements(...absentSecrets),
  // Read by plugins (docs/plugins.md): columns are never renamed or removed.
  "0007_plugin_views": statements(
    `create view plugin_events as
      select id, entry_number, organization_id, type, entity_type, entity_id, payload, created_at, position
      from outbox_events`
  )
}
