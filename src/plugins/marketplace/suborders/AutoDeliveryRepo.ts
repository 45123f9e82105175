import { Effect, Schema } from "effect"
import { CurrentActor, type PluginDatabase, rowsOf } from "stoa/plugin"

const ids = rowsOf(Schema.Struct({ id: Schema.String }))

/** Statements about sub-orders that were shipped long ago. */
export const autoDeliveryRepo = ({ sql }: PluginDatabase["Service"]) => ({
  /** Organizations that have some; for the service's own work. */
  organizations: Effect.fn("AutoDeliveryRepo.organizations")(function*(days: number) {
    const rows = yield* ids(sql)`select o.id from organizations o cross join lateral (
        select 1 from marketplace_vendor_sub_orders s where s.organization_id = o.id and s.status = 'shipped'
          and s.created_at < now() - make_interval(days => ${days}) limit 1) old
      order by o.id`
    return rows.map(({ id }) => id)
  }, Effect.orDie),

  /**
   * Ids after this one of undisputed sub-orders that were shipped so many days ago. They were created before that, so the
   * index by age finds them.
   */
  overdue: Effect.fn("AutoDeliveryRepo.overdue")(function*(days: number, after: string, limit: number) {
    const { organizationId } = yield* CurrentActor
    const rows = yield* ids(sql)`select s.id from marketplace_vendor_sub_orders s
      where s.organization_id = ${organizationId} and s.status = 'shipped' and not s.on_hold
        and s.created_at < now() - make_interval(days => ${days})
        and s.shipped_at < now() - make_interval(days => ${days}) and s.id > ${after}::uuid
      order by s.id limit ${limit}`
    return rows.map(({ id }) => id)
  }, Effect.orDie)
})
