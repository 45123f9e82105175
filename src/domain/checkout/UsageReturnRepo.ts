import type { SqlClient } from "effect/sql"

/**
 * What removed rows of `promotion_usages`, the part `usages (promotion_id, buyers)`, give back to the counters.
 * Promotions are locked by id before their customers' counters, as the placing of an order does.
 */
export const usageReturned = (sql: SqlClient.SqlClient, organization: string) =>
  sql`limited as materialized (select id from promotions where id = any(array(select promotion_id from usages))
      order by id for update),
    totals as (update promotions set used_count = used_count - 1 where id = any(array(select id from limited))
      returning id),
    customers_counted as (update promotion_buyer_usages c set used_count = c.used_count - 1
      from usages join totals on totals.id = usages.promotion_id
      where c.organization_id = ${organization} and c.promotion_id = usages.promotion_id
        and c.buyer = any(usages.buyers))`
