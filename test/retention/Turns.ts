import { onDatabase } from "../support/Audit.ts"

/** Puts the scheduled tasks of retention into the queue of a database, as the next tick would. */
export const retentionTurn = (databaseUrl: string) =>
  onDatabase(databaseUrl, (sql) =>
    sql`insert into commerce_jobs (id, organization_id, task_slug)
      select gen_random_uuid(), 'org_default', 'retention/' || task from unnest(array['carts', 'holds',
        'idempotency-keys', 'provider-events', 'change-log', 'cluster-messages', 'webhook-deliveries', 'rate-limits']) task`)
