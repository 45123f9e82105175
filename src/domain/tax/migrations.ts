import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { taxClassTriggers } from "../catalog/TaxClassNaming.ts"
import { statements } from "../platform/database/MigrationStatements.ts"
import { countedBy } from "../platform/paging/migrations.ts"
import { decoding } from "../platform/records/Rows.ts"
import { slugOf } from "./TaxClass.ts"

/** Every process drops its cache of the organization's rules (`layers/access/RequestActors.ts`). */
const tells = (table: string) =>
  `create trigger ${table}_changed after insert or update or delete on ${table} for each row
    execute function tell_tax()`

/** The class of goods, rates and shipping is one of their store. */
const namesClass = (table: string): ReadonlyArray<string> => [
  `alter table ${table} add constraint ${table}_tax_class foreign key (organization_id, tax_class_id)
    references tax_classes (organization_id, id)`,
  `create index ${table}_tax_class on ${table} (organization_id, tax_class_id) where tax_class_id is not null`
]

const Named = Schema.Struct({ id: Schema.String, organization: Schema.String, name: Schema.String })

const classSlugs = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table tax_classes add column slug text not null default ''`
  const rows = yield* decoding(sql, Named)`
    select id, organization_id as organization, name from tax_classes order by organization_id, name`
  const taken = new Set<string>()
  for (const { id, name, organization } of rows) {
    const slug = slugOf(name)
    const free = slug === "" || taken.has(`${organization} ${slug}`) ? `${slug}${slug && "-"}${id.slice(-12)}` : slug
    taken.add(`${organization} ${free}`)
    yield* sql`update tax_classes set slug = ${free} where id = ${id}::uuid`
  }
  // The previous version makes classes without a slug.
  yield* sql`create function tax_class_slug() returns trigger language plpgsql as $$
    begin
      new.slug := trim(both '-' from regexp_replace(lower(new.name), '[^[:alnum:]]+', '-', 'g'));
      if new.slug = '' or exists (select 1 from tax_classes
          where organization_id = new.organization_id and slug = new.slug) then
        new.slug := trim(leading '-' from new.slug || '-' || right(new.id::text, 12));
      end if;
      return new;
    end $$`
  yield* sql`create trigger tax_classes_slug before insert on tax_classes for each row when (new.slug = '')
    execute function tax_class_slug()`
  yield* sql`create unique index tax_classes_slug on tax_classes (organization_id, slug)`
  yield* sql`create unique index tax_classes_tenant on tax_classes (organization_id, id)`
})

/** `rate` is exact; `rate_bps` is what the previous version reads and writes. */
const decimalRate = (table: string): ReadonlyArray<string> => [
  `alter table ${table} add column rate text not null default ''`,
  `update ${table} set rate = trim_scale(rate_bps / 100.0)::text`,
  `create trigger ${table}_rate before insert or update of rate, rate_bps on ${table} for each row
    execute function tax_rate_kept()`,
  `alter table ${table} add constraint ${table}_rate
    check (rate ~ '^[0-9]{1,3}([.][0-9]{1,5})?$' and rate::numeric <= 100)`
]

const rateKept = `create function tax_rate_kept() returns trigger language plpgsql as $$
  begin
    if new.rate = '' or (tg_op = 'UPDATE' and new.rate = old.rate and new.rate_bps is distinct from old.rate_bps) then
      new.rate := trim_scale(new.rate_bps / 100.0)::text;
    else
      new.rate_bps := round(new.rate::numeric * 100);
    end if;
    return new;
  end $$`

/** No country: a rate that the previous version would apply to too much. */
const elsewhere = "OO"

const placeKept = `create function tax_rate_place() returns trigger language plpgsql as $$
  begin
    if tg_op = 'INSERT' or new.country is distinct from '${elsewhere}' then
      new.region_country := new.country;
    end if;
    new.country := case
      when new.region_country is null or new.tax_class_id is not null or new.postal_code is not null
        or new.valid_from is not null or new.valid_until is not null or new.compound then '${elsewhere}'
      else new.region_country end;
    -- A rate entered twice would be charged twice.
    perform pg_advisory_xact_lock(hashtextextended('tax_rates ' || new.organization_id, 0));
    if exists (select 1 from tax_rates r where r.organization_id = new.organization_id and r.id <> new.id
        and (r.name, r.region_country, upper(r.state), upper(regexp_replace(r.postal_code, '\\s', '', 'g')), r.tax_class_id)
          is not distinct from (new.name, new.region_country, upper(new.state),
            upper(regexp_replace(new.postal_code, '\\s', '', 'g')), new.tax_class_id)
        and tstzrange(r.valid_from, r.valid_until) && tstzrange(new.valid_from, new.valid_until)) then
      raise exception 'a rate of this name, place and class' using errcode = '23505', constraint = 'tax_rates_name';
    end if;
    return new;
  end $$`

/** Goods could name a class before there was one. */
const goodsNamed: ReadonlyArray<string> = [
  `create function tax_class_made() returns trigger language plpgsql as $$
  begin
    update catalog_entities set tax_class_id = new.id
      where organization_id = new.organization_id and tax_class = new.name and tax_class_id is null;
    update variants set tax_class_id = new.id
      where organization_id = new.organization_id and tax_class = new.name and tax_class_id is null;
    return null;
  end $$`,
  "create trigger tax_classes_made after insert on tax_classes for each row execute function tax_class_made()"
]

const regionRates: ReadonlyArray<string> = [
  `alter table tax_rates
    add column tax_class_id uuid,
    add column region_country text check (region_country ~ '^[A-Z]{2}$'),
    add column postal_code text,
    add column valid_from timestamptz,
    add column valid_until timestamptz,
    add column compound boolean not null default false,
    add constraint tax_rates_place
      check (region_country is not null or (state is null and postal_code is null)),
    add constraint tax_rates_window check (valid_until > valid_from)`,
  // Rates of regions were not asked in stores with an active class: they stay so until someone switches them on.
  `update tax_rates r set is_active = false, updated_at = now() where r.is_active
    and exists (select 1 from tax_classes c where c.organization_id = r.organization_id and c.is_active)`,
  "update tax_rates set region_country = country",
  placeKept,
  `create trigger tax_rates_place before insert or update on tax_rates for each row execute function tax_rate_place()`,
  // `tax_rate_place` is the guard, since one name can have several times.
  "drop index tax_rates_name"
]

/** Names of no class stay as they are: their goods are of no class. */
const goodsOfClasses = ["catalog_entities", "variants"].flatMap((table) => [
  `lock table ${table} in share row exclusive mode`,
  `update ${table} g set tax_class_id = c.id from tax_classes c
    where c.organization_id = g.organization_id and c.name = g.tax_class`,
  ...taxClassTriggers(table),
  ...namesClass(table)
])

/** Rates are in basis points: 1900 is 19 % (contract §3.5). */
export const migrations = {
  "0001_tax": statements(
    `create table tax_classes (
      id uuid primary key,
      organization_id text not null references organizations,
      -- What entities and variants say as their taxClass.
      name text not null,
      rate_bps int not null check (rate_bps between 0 and 10000),
      is_default boolean not null default false,
      is_active boolean not null default true,
      metadata jsonb not null default '{}',
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    )`,
    `create unique index tax_classes_name on tax_classes (organization_id, name)`,
    // At most one default, also with concurrent requests.
    `create unique index tax_classes_default on tax_classes (organization_id) where is_default`,
    `create table tax_rates (
      id uuid primary key,
      organization_id text not null references organizations,
      name text not null,
      -- Code of a country in upper case.
      country text not null check (country ~ '^[A-Z]{2}$'),
      -- Null: everywhere in the country where no rate names the state.
      state text,
      rate_bps int not null check (rate_bps between 0 and 10000),
      applies_to_shipping boolean not null default true,
      priority int not null default 100,
      is_active boolean not null default true,
      metadata jsonb not null default '{}',
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    )`,
    // A rate entered twice would be charged twice.
    `create unique index tax_rates_name on tax_rates (organization_id, country, coalesce(upper(state), ''), name)`,
    `create index tax_rates_order on tax_rates (organization_id, priority, id)`,
    `create function tell_tax() returns trigger language plpgsql as $$
    begin
      perform pg_notify('auth_changed',
        'tax:' || case when tg_op = 'DELETE' then old.organization_id else new.organization_id end);
      return null;
    end $$`,
    tells("tax_classes"),
    tells("tax_rates")
  ),
  "0002_counted": statements(
    ...countedBy({ table: "tax_classes" }),
    ...countedBy({ table: "tax_rates" })
  ),
  "0003_class_and_region": Effect.andThen(
    classSlugs,
    statements(
      rateKept,
      ...decimalRate("tax_classes"),
      ...decimalRate("tax_rates"),
      ...regionRates,
      ...goodsOfClasses,
      ...goodsNamed,
      `create view tax_classes_read as select id, organization_id, name, slug, rate, is_default, is_active, metadata,
        created_at, updated_at from tax_classes`,
      ...namesClass("tax_rates"),
      ...namesClass("shipping_rates")
    )
  ),
  // Read by plugins (docs/plugins.md): columns are never renamed or removed.
  "0004_plugin_views": statements(
    `create view plugin_tax_rates as
      select id, organization_id, name, region_country as country, state, postal_code, tax_class_id, is_active, valid_from,
        valid_until, created_at, updated_at
      from tax_rates`
  )
}
