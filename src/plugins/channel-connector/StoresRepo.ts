import { Effect, Schema } from "effect"
import { emailKey, emailKeyOf, type PluginDatabase, rowsOf, statement } from "stoa/plugin"

const ids = rowsOf(Schema.Struct({ id: Schema.String }))

/** The rows of a store of a provider in every organization: its requests to an app name no organization. */
export const storesAt = {
  on: ({ sql }: PluginDatabase) => (provider: string, domain: string) =>
    ids(sql`select id from connected_stores where provider = ${provider} and store_domain = ${domain} order by id`)
      .pipe(
        Effect.map((rows) => rows.map(({ id }) => id)),
        Effect.orDie
      )
}

const Exported = Schema.Struct({
  id: Schema.String,
  orderId: Schema.String,
  customerData: Schema.NullOr(Schema.Record(Schema.String, Schema.Unknown))
})
const exported = rowsOf(Exported)

/** Exports to a store that have data of a customer, by the store's ids of the orders or by the e-mail address. */
export const exportsOf = statement("StoresRepo.exportsOf", function*(
  sql,
  organizationId,
  storeId: string,
  remoteOrderIds: ReadonlyArray<string>,
  email: string | null
) {
  const key = sql.literal(emailKeyOf("customer_data->>'email'"))
  return yield* exported(sql`select id, order_id as "orderId", customer_data as "customerData"
    from channel_order_exports
    where organization_id = ${organizationId} and store_id = ${storeId}::uuid and customer_data is not null
      and (remote_order_id = any(${remoteOrderIds}::text[]) or ${key} = ${
    email === null ? null : emailKey(email)
  }::text)`)
})

/** Deletes what is known of the products of a store. */
export const forgetMap = statement("StoresRepo.forgetMap", function*(sql, organizationId, storeId: string) {
  yield* sql`delete from channel_entity_map where organization_id = ${organizationId} and store_id = ${storeId}::uuid`
})

/** Deletes up to `limit` webhooks that arrived before a time, and gives how many; those that wait for their job stay. */
export const forgetDeliveries = statement(
  "StoresRepo.forgetDeliveries",
  function*(sql, organizationId, before: Date, limit: number) {
    const gone = yield* ids(sql`delete from channel_deliveries where id = any(array(
      select id from channel_deliveries where organization_id = ${organizationId}
        and created_at < ${before.toISOString()}::timestamptz and status <> 'received' limit ${limit})) returning id`)
    return gone.length
  }
)

/** Stores that were disconnected before a time and still have credentials: the job that deletes them did not end. */
export const keptSecrets = statement("StoresRepo.keptSecrets", function*(sql, organizationId, before: Date) {
  return yield* ids(sql`select id from connected_stores where organization_id = ${organizationId}
    and status = 'disconnected' and credentials is not null and updated_at < ${before.toISOString()}::timestamptz`)
})

/** Deletes consents that no merchant can give any more. */
export const forgetGrants = statement("StoresRepo.forgetGrants", function*(sql, organizationId, now: Date) {
  yield* sql`delete from channel_oauth_grants
    where organization_id = ${organizationId} and ends_at < ${now.toISOString()}::timestamptz - interval '1 hour'`
})
