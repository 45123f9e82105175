import { type Migrations, statements } from "stoa/plugin"

/**
 * Puts a unique of carts whose condition names the word in the place of those of before. One of them may have the new name:
 * the first name said nothing of a condition, and such an index is renamed.
 */
const cartsInUse = (word: string, name: string, condition: string) =>
  statements(
    `do $$ declare former text; begin
      for former in select indexname from pg_indexes where schemaname = current_schema()
        and tablename = 'scheduled_orders' and indexname like 'scheduled_orders_cart_id%key'
        and position('${word}' in indexdef) = 0
      loop execute format('drop index %I', former); end loop;
    end $$`,
    `create unique index if not exists ${name} on scheduled_orders (organization_id, cart_id) where ${condition}`
  )

export const scheduleMigrations: Migrations = {
  "0001_months": cartsInUse(
    "every_months",
    "scheduled_orders_cart_id_bf9cb6cd_key",
    `status in ('scheduled', 'paused')
      or every_days is null and every_months is null and status in ('processing', 'completed', 'failed')`
  ),
  "0002_price_review": cartsInUse(
    "price_review",
    "scheduled_orders_cart_id_48f52e1c_key",
    `status in ('scheduled', 'paused', 'price_review')
      or every_days is null and every_months is null and status in ('processing', 'completed', 'failed')`
  )
}
