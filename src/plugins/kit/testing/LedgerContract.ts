import { Effect, Exit } from "effect"
import { deepStrictEqual, strictEqual } from "node:assert/strict"
import { randomUUID } from "node:crypto"
import type { Ledger } from "../records/Ledger.ts"
import type { NewRowOf, Table } from "../tables/Table.ts"
import type { PluginCheck } from "./PluginContract.ts"
import type { PluginTestApp } from "./PluginTestApp.ts"

/**
 * Selects accounts whose columns are not the sums of their entries and holds, of all organizations: none may be found, also
 * after processes were killed.
 */
export const wrongAccounts = ({ account, entries, holds }: Ledger) =>
  `select a.id from ${account.name} a
    left join (select account_id, sum(amount) as sum, count(*) as n, max(number) as last from ${entries.name} group by 1) e
      on e.account_id = a.id
    left join (select account_id, sum(amount) as sum from ${holds.name} where status = 'held' group by 1) h
      on h.account_id = a.id
    where a.balance <> coalesce(e.sum, 0) or a.held <> coalesce(h.sum, 0) or a.version <> coalesce(e.n, 0)
      or a.version <> coalesce(e.last, 0)`

/**
 * What every ledger has to do, on accounts that `row` describes: entries are repeated without effect, no debit passes the
 * floor, and the columns of every account of the database are the sums of its entries and holds.
 */
export const ledgerOf = <A extends Table>(
  { db, serviceRegistry: { run }, tables }: PluginTestApp,
  ledger: Ledger<A>,
  row: () => NewRowOf<A>
): ReadonlyArray<PluginCheck> => {
  const post = (accountId: string, amount: number, reference: string = randomUUID()) =>
    tables.use(ledger).post({ accountId, type: "test", amount, reference })
  const accountWith = Effect.fnUntraced(function*(amount: number) {
    const { id } = yield* tables.table(ledger.account).insert(row())
    return yield* post(id, amount)
  })
  return [
    {
      name: `${ledger.account.name}: an entry that is repeated has no effect`,
      run: async () => {
        const { accountId, ...first } = await run(accountWith(5))
        const again = await run(post(accountId, 5, first.reference))
        deepStrictEqual([again.id, (await run(tables.use(ledger).balance(accountId))).balance], [
          first.id,
          first.amount
        ])
      }
    },
    {
      name: `${ledger.account.name}: of eight debits at once as many succeed as the balance has`,
      run: async () => {
        const { accountId } = await run(accountWith(20))
        const { available } = await run(tables.use(ledger).balance(accountId))
        const each = Math.floor(available / 3)
        const spent = await Promise.all(
          Array.from({ length: 8 }, () => run(Effect.exit(Effect.suspend(() => post(accountId, -each)))))
        )
        strictEqual(spent.filter(Exit.isSuccess).length, 3)
      }
    },
    {
      name: `${ledger.account.name}: each balance is the sum of its entries, and what is held that of its holds`,
      run: async () => deepStrictEqual(await db.query(wrongAccounts(ledger)), [])
    }
  ]
}
