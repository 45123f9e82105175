import { Effect, Schema } from "effect"
import { type Database, newId, rowsOf, statement } from "stoa/plugin"
import type { Account, Posting } from "./Ledger.ts"

const balances = rowsOf(Schema.Struct({ balance_cents: Schema.Int }))

/**
 * Accounts first: the update behind `on conflict` waits for the row lock and adds to the current balance, not to the
 * snapshot's. Running balances are counted back from it. Lock order: vendor, then currency.
 */
const postStatement = (sql: Database, organization: string, postings: string) =>
  sql`with input as materialized (
      select i.*, row_number() over account as place, count(*) over whole as total_count,
        sum("amountCents") over account as so_far, sum("amountCents") over whole as total
      from jsonb_to_recordset(${postings}::jsonb)
        as i(n int, id uuid, "vendorId" uuid, currency text, type text, "amountCents" bigint, "subOrderId" uuid,
          "referenceType" text, "referenceId" uuid, description text, "payoutId" uuid)
      window whole as (partition by "vendorId", currency),
        account as (partition by "vendorId", currency order by n)),
    accounts as (
      insert into marketplace_vendor_accounts as a (organization_id, vendor_id, currency, balance_cents, entry_count)
      select v.organization_id, v.id, i.currency, i.total, i.total_count
      from input i join marketplace_vendors v on v.id = i."vendorId" and v.organization_id = ${organization}
      where i.place = 1
      order by v.id, i.currency
      on conflict (organization_id, vendor_id, currency) do update
        set balance_cents = a.balance_cents + excluded.balance_cents,
          entry_count = a.entry_count + excluded.entry_count, updated_at = now()
      returning a.vendor_id, a.currency, a.balance_cents, a.entry_count),
    made as (
      insert into marketplace_vendor_balances (id, organization_id, vendor_id, currency, type, amount_cents,
        running_balance_cents, entry_number, sub_order_id, reference_type, reference_id, description, payout_id)
      select i.id, ${organization}, i."vendorId", i.currency, i.type, i."amountCents",
        a.balance_cents - i.total + i.so_far, a.entry_count - i.total_count + i.place, i."subOrderId",
        i."referenceType", i."referenceId", i.description, i."payoutId"
      from input i join accounts a on a.vendor_id = i."vendorId" and a.currency = i.currency
      returning id)
    select id from made`

/*
 * What vendors are owed (contract, plugins §1.5). The balance of an account is at every moment the sum of its entries:
 * both are written in one statement, behind the lock of the account's row. Accounts are locked in the order of vendor and
 * currency, always after orders and sub-orders, so that no two postings wait for each other.
 */

/** Adds entries, in the transaction of the change that they record; entries of 0 are left out. */
export const post = statement("Ledger.post", function*(sql, organizationId, postings: ReadonlyArray<Posting>) {
  const given = postings.filter(({ amountCents }) => amountCents !== 0)
  if (given.length === 0) return
  const numbered = given.map((posting, n) => ({ ...posting, n, id: newId() }))
  const rows = yield* postStatement(sql, organizationId, JSON.stringify(numbered))
  if (rows.length !== given.length) {
    return yield* Effect.die(new Error("An entry of the ledger names a vendor that the organization does not have."))
  }
})

/** Locks a vendor's account until the caller's transaction ends, making it if need be; gives its balance. */
export const lockAccount = statement("Ledger.lock", function*(sql, organizationId, { currency, vendorId }: Account) {
  // An update that changes nothing: it makes the account or locks it, and sees what the one before it wrote.
  const [row] = yield* balances(sql`
    insert into marketplace_vendor_accounts as a (organization_id, vendor_id, currency)
    select v.organization_id, v.id, ${currency}::text from marketplace_vendors v
    where v.id = ${vendorId}::uuid and v.organization_id = ${organizationId}
    on conflict (organization_id, vendor_id, currency) do update set entry_count = a.entry_count
    returning a.balance_cents`)
  if (row === undefined) return yield* Effect.die(new Error(`The organization has no vendor ${vendorId}.`))
  return row.balance_cents
})
