import { Effect, Schema } from "effect"
import { type Database, rowsOf, statement, StorableObject } from "stoa/plugin"

const DueTransfer = Schema.Struct({
  payoutId: Schema.String,
  vendorId: Schema.String,
  amount: Schema.Int,
  currency: Schema.String,
  /** From 0; each retry of a failed payout is a separate transfer. */
  retryCount: Schema.Int,
  bankAccount: Schema.NullOr(StorableObject)
})
export type DueTransfer = typeof DueTransfer.Type

const transfers = rowsOf(DueTransfer)
const organizations = rowsOf(Schema.Struct({ id: Schema.String }))

/** Milliseconds before an adapter that has said nothing final is asked again: doubled with every time, an hour at most. */
const wait = { first: 60_000, longest: 3_600_000 }

/**
 * Leases due payouts for `leaseMs` milliseconds, oldest first, and skips those that are locked: until then no other
 * process asks for them or decides about them. With `ids` only these, and all of them.
 */
export const claimTransfers = statement(
  "TransferRepo.claim",
  function*(sql, organizationId, limit: number, leaseMs: number, ids?: ReadonlyArray<string>) {
    const among = ids === undefined ? sql`true` : sql`p.id = any(${ids}::uuid[])`
    // The run that created them must not leave them to the task because a reader locks one at this moment.
    const past = sql.literal(ids === undefined ? "skip locked" : "")
    return yield* transfers(sql`with due as materialized (
          select p.id from marketplace_vendor_payouts p
          where p.organization_id = ${organizationId} and p.status = 'processing' and p.due_at is not null
            and p.due_at <= now() and ${among}
          order by p.due_at, p.id limit ${limit} for update ${past}),
        claimed as (update marketplace_vendor_payouts p set attempts = p.attempts + 1,
            asked_until = now() + make_interval(secs => ${leaseMs / 1_000}),
            due_at = now() + make_interval(secs => greatest(${leaseMs / 1_000},
              least(${wait.longest / 1_000}, ${wait.first / 1_000} * power(2, least(p.attempts, 10))))),
            updated_at = now()
          from due where p.id = due.id returning p.*)
        select c.id as "payoutId", c.vendor_id as "vendorId", c.net_amount as amount, c.currency,
          c.retry_count as "retryCount", s.bank_account as "bankAccount"
        from claimed c left join marketplace_vendor_secrets s
          on s.organization_id = c.organization_id and s.vendor_id = c.vendor_id
        order by c.created_at, c.id`)
  }
)

/** Organizations in which an adapter is to be asked; for the service's own work. */
export const organizationsWithTransfers = ({ sql }: { readonly sql: Database }) =>
  Effect.map(
    organizations(sql`select o.id from plugin_organizations o cross join lateral (
        select 1 from marketplace_vendor_payouts p where p.organization_id = o.id and p.status = 'processing'
          and p.due_at is not null and p.due_at <= now() limit 1) due
      order by o.id`),
    (rows) => rows.map(({ id }) => id)
  ).pipe(Effect.orDie, Effect.withSpan("TransferRepo.organizations"))
