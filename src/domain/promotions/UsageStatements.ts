import { Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { CustomerId, OrderId, PromotionId } from "../platform/ids/Id.ts"
import { Table } from "../platform/records/Table.ts"
import { emailKeyOf } from "../platform/text/Email.ts"
import { Time } from "../platform/text/Time.ts"

const keyOfEmail = (email: string) =>
  `'email:' || encode(sha256(convert_to(nullif(${emailKeyOf(`trim(${email})`)}, ''), 'UTF8')), 'hex')`

/**
 * Keys that count the use of a promotion by one buyer: the profile, its address and that of the cart, so that a guest
 * and a customer with one address count together.
 */
export const buyerKeys = (customerId: string, email: string) =>
  `array(select distinct key from unnest(array['customer:' || ${customerId}, ${keyOfEmail(email)},
    (select ${
    keyOfEmail("u.email")
  } from customers_read u where u.id = ${customerId})]) key where key is not null order by key)`

const PromotionUsage = Schema.Struct({
  organizationId: Schema.String,
  promotionId: PromotionId,
  orderId: OrderId,
  customerId: Schema.NullOr(CustomerId),
  buyers: Schema.NullOr(Schema.Array(Schema.String)),
  usedAt: Time
})

export const promotionUsages = new Table("promotion_usages", PromotionUsage, { unset: ["usedAt"] })

const used = promotionUsages.insertion({
  organizationId: "w.organization",
  promotionId: "w.promotion",
  orderId: "w.id",
  customerId: "w.customer",
  buyers: "w.buyers"
})

/**
 * Table constraints enforce the limits: concurrent buyers never exceed them. Rows are locked by id: checkouts with the
 * same promotions cannot deadlock.
 */
export const usage = (sql: SqlClient.SqlClient) =>
  sql`wanted as materialized (
      select i.organization, i.id, i.customer, (p->>'promotionId')::uuid as promotion,
        (p->>'perCustomer')::int as per_customer, ${sql.literal(buyerKeys("i.customer", "cart.email"))} as buyers
      from cart join input i on i.n = cart.n, jsonb_array_elements(i.promotions) p),
    limited as materialized (
      select p.id from promotions p where p.id = any(array(select promotion from wanted)) order by p.id for update),
    used as (
      update promotions p set used_count = p.used_count + w.times
      from (select promotion, organization, count(*)::int as times from wanted group by promotion, organization) w
      where p.id = any(array(select id from limited)) and p.id = w.promotion and p.organization_id = w.organization returning p.id),
    usages as (
      insert into promotion_usages ${sql.literal(used)} from wanted w join used on used.id = w.promotion),
    counted as (
      insert into promotion_buyer_usages as u (organization_id, promotion_id, buyer, used_count, usage_limit)
      select w.organization, w.promotion, buyer, count(*)::int, min(w.per_customer)
      from wanted w join used on used.id = w.promotion, unnest(w.buyers) buyer
      group by w.organization, w.promotion, buyer order by w.promotion, buyer
      on conflict (organization_id, promotion_id, buyer) do update
        set used_count = u.used_count + excluded.used_count, usage_limit = excluded.usage_limit)`

/** Locks promotions by id before the counters of their customers, as `usage` does. */
export const usageReturned = (sql: SqlClient.SqlClient, organization: string) =>
  sql`limited as materialized (select id from promotions where id = any(array(select promotion_id from usages))
      order by id for update),
    totals as (update promotions set used_count = used_count - 1 where id = any(array(select id from limited))
      returning id),
    customers_counted as (update promotion_buyer_usages c set used_count = c.used_count - 1
      from usages join totals on totals.id = usages.promotion_id
      where c.organization_id = ${organization} and c.promotion_id = usages.promotion_id
        and c.buyer = any(usages.buyers))`
