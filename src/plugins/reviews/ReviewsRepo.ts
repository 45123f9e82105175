import { Effect, Schema } from "effect"
import { CurrentActor, type CustomerId, type EntityId, OrderId, type PluginDatabase, rowsOf } from "stoa/plugin"

type Database = PluginDatabase["Service"]

const purchases = rowsOf(Schema.Struct({ orderId: OrderId, isFulfilled: Schema.Boolean }))
const due = rowsOf(
  Schema.Struct({
    orderId: OrderId,
    orderNumber: Schema.String,
    email: Schema.String,
    titles: Schema.Array(Schema.String)
  })
)
const stars = rowsOf(
  Schema.Struct({ star1: Schema.Int, star2: Schema.Int, star3: Schema.Int, star4: Schema.Int, star5: Schema.Int })
)

/** An order of a customer with a thing in it, a fulfilled one first: the one of this id, else any. One statement. */
export const purchaseOf = Effect.fn("Reviews.purchaseOf")(
  function*(
    { sql }: Database,
    { customerId, entityId, orderId }: {
      readonly customerId: CustomerId
      readonly entityId: EntityId
      readonly orderId: OrderId | undefined
    }
  ) {
    const { organizationId } = yield* CurrentActor
    const [found] = yield* purchases(sql)`select o.id as "orderId", l.fulfillment_status = 'fulfilled' as "isFulfilled"
      from plugin_orders o join plugin_order_lines l on l.order_id = o.id
      where o.organization_id = ${organizationId} and o.customer_id = ${customerId}::uuid
        and l.entity_id = ${entityId}::uuid ${orderId === undefined ? sql`` : sql`and o.id = ${orderId}::uuid`}
      order by l.fulfillment_status = 'fulfilled' desc, o.placed_at desc limit 1`
    return found
  },
  Effect.orDie
)

/** The counters of a thing, zeros before its first review; undefined when the organization has no such thing. */
export const summaryOf = Effect.fn("Reviews.summaryOf")(
  function*({ sql }: Database, entityId: EntityId) {
    const { organizationId } = yield* CurrentActor
    const [found] = yield* stars(sql)`select ${
      sql.literal([1, 2, 3, 4, 5].map((n) => `coalesce(s.star${n}, 0) as star${n}`).join(", "))
    } from plugin_entities e
      left join review_summaries s on s.organization_id = e.organization_id and s.entity_id = e.id
      where e.organization_id = ${organizationId} and e.id = ${entityId}::uuid`
    return found
  },
  Effect.orDie
)

/** Adds to the reviews of a thing with so many stars: the row is locked until the transaction ends, so none is lost. */
export const countStars = Effect.fn("Reviews.countStars")(
  function*({ sql }: Database, entityId: EntityId, rating: number, step: 1 | -1) {
    const { organizationId } = yield* CurrentActor
    const column = sql(`star${rating}`)
    yield* sql`insert into review_summaries as s (organization_id, entity_id, ${column})
      values (${organizationId}, ${entityId}::uuid, ${step})
      on conflict (organization_id, entity_id) do update set ${column} = s.${column} + ${step}, updated_at = now()`
  },
  Effect.orDie
)

/**
 * Orders that were fulfilled `days` days ago, and not longer than 30 days before that, whose customers were not asked yet and
 * left a thing of them without a review.
 */
export const dueRequests = Effect.fn("Reviews.due")(
  function*({ sql }: Database, now: Date, days: number, limit: number) {
    const { organizationId } = yield* CurrentActor
    return yield* due(
      sql
    )`select o.id as "orderId", o.order_number as "orderNumber", coalesce(o.email, c.email) as email,
        array_agg(distinct l.title order by l.title) as titles
      from plugin_orders o
      join plugin_customers c on c.id = o.customer_id and c.organization_id = o.organization_id and c.erased_at is null
      join plugin_order_lines l on l.order_id = o.id and l.fulfillment_status = 'fulfilled'
      where o.organization_id = ${organizationId} and o.status = 'fulfilled'
        and o.fulfilled_at <= ${now}::timestamptz - make_interval(days => ${days}::int)
        and o.fulfilled_at > ${now}::timestamptz - make_interval(days => ${days + 30}::int)
        and coalesce(o.email, c.email) is not null
        and not exists (select 1 from review_requests r where r.organization_id = o.organization_id and r.order_id = o.id)
        and not exists (select 1 from customer_reviews v where v.organization_id = o.organization_id
          and v.customer_id = o.customer_id and v.entity_id = l.entity_id)
      group by o.id, o.order_number, o.email, c.email, o.fulfilled_at order by o.fulfilled_at limit ${limit}`
  },
  Effect.orDie
)
