import { Schema } from "effect"
import { CustomerId, emailKeyOf, EntityId, rowsOf, statement } from "stoa/plugin"

const products = rowsOf(Schema.Struct({ id: EntityId, slug: Schema.String, skus: Schema.Array(Schema.String) }))

/** Entities by slug, SKU of a variant or id; locked, so that they stay until the reviews are written. */
export const productsOf = statement(
  "Imports.products",
  function*(
    sql,
    organizationId,
    { handles, ids, skus }: Readonly<Record<"handles" | "ids" | "skus", ReadonlyArray<string>>>
  ) {
    return yield* products(sql`select e.id, e.slug, array(select v.sku from plugin_variants v
          where v.organization_id = ${organizationId} and v.entity_id = e.id and v.sku = any(${skus}::text[])) as skus
        from plugin_entities e
        where e.organization_id = ${organizationId} and e.id = any(array(
          select id from plugin_entities where organization_id = ${organizationId} and slug = any(${handles}::text[])
          union all select entity_id from plugin_variants
            where organization_id = ${organizationId} and sku = any(${skus}::text[])
          union all select unnest(${ids}::uuid[])))
        order by e.id for key share of e`)
  }
)

const customers = rowsOf(Schema.Struct({ id: CustomerId, email: Schema.String }))

/** Customers by the keys of their addresses (`emailKey`); locked, so that an erasure finds the reviews that are written of them. */
export const customersBy = statement(
  "Imports.customers",
  function*(sql, organizationId, emails: ReadonlyArray<string>) {
    const key = sql.literal(emailKeyOf("email"))
    return yield* customers(sql`select id, ${key} as email from plugin_customers
      where organization_id = ${organizationId} and ${key} = any(${emails}::text[]) and erased_at is null
      order by id for share`)
  }
)

const Imported = Schema.Struct({
  id: Schema.String,
  customerId: Schema.NullOr(CustomerId),
  entityId: EntityId,
  rating: Schema.Int,
  status: Schema.Literals(["pending", "approved", "rejected"]),
  isVerified: Schema.Boolean
})
const imported = rowsOf(Imported)

/**
 * Inserts reviews, verified by the last fulfilled order of their customer that contains the entity, and leaves out those that
 * were imported before or are the second one of a customer or an order.
 */
export const insertImported = statement("Imports.insert", function*(sql, organizationId, rows: ReadonlyArray<object>) {
  return yield* imported(
    sql`insert into customer_reviews (organization_id, entity_id, customer_id, order_id, is_verified,
        rating, title, body, author_name, status, is_published, response, response_at, import_key, created_at)
      select ${organizationId}, i."entityId", i."customerId", bought.id, bought.id is not null, i.rating, i.title, i.body,
        i."authorName", i.status, i.status = 'approved', i.response, i."responseAt", i."importKey", i."createdAt"
      from jsonb_to_recordset(${
      JSON.stringify(rows)
    }::jsonb) i ("entityId" uuid, "customerId" uuid, rating int, title text,
          body text, "authorName" text, status text, response text, "responseAt" timestamptz, "importKey" text,
          "createdAt" timestamptz)
        left join lateral (select o.id from plugin_orders o
          where o.organization_id = ${organizationId} and o.customer_id = i."customerId" and o.status = 'fulfilled'
            and exists (select 1 from plugin_order_lines l
              where l.organization_id = ${organizationId} and l.order_id = o.id and l.entity_id = i."entityId")
          order by o.placed_at desc, o.id desc limit 1) bought on true
      on conflict do nothing
      returning id, customer_id as "customerId", entity_id as "entityId", rating, status, is_verified as "isVerified"`
  )
})

/** Counts published ones of these new reviews, in one order of entities. */
export const countImported = statement("Imports.count", function*(sql, organizationId, ids: ReadonlyArray<string>) {
  yield* sql`insert into review_summaries as s (organization_id, entity_id, star1, star2, star3, star4, star5)
      select organization_id, entity_id, count(*) filter (where rating = 1), count(*) filter (where rating = 2),
        count(*) filter (where rating = 3), count(*) filter (where rating = 4), count(*) filter (where rating = 5)
      from customer_reviews
      where organization_id = ${organizationId} and id = any(${ids}::uuid[]) and is_published
      group by organization_id, entity_id order by entity_id
      on conflict (organization_id, entity_id) do update set star1 = s.star1 + excluded.star1,
        star2 = s.star2 + excluded.star2, star3 = s.star3 + excluded.star3, star4 = s.star4 + excluded.star4,
        star5 = s.star5 + excluded.star5, updated_at = now()`
})
