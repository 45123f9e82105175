import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { onDatabase } from "../support/Audit.ts"
import { eventually } from "../support/Eventually.ts"
import {
  goodsHere,
  type Sale,
  type SaleHere,
  salesHere,
  shopifyGoods,
  shopifySales,
  shopifyStockOfOurs,
  stockOfOurs,
  wooGoods,
  wooSales,
  wooStockOfOurs,
  written
} from "./BothSides.ts"
import { live, openStores, settle, type StoreDay, storeDay } from "./StoreDay.ts"

/** `STOA_TEST_SEED=7,8` repeats two other days. */
const seeds = (process.env["STOA_TEST_SEED"] ?? "1").split(",").map(Number)

/** Reconciles a store, and gives what that did. */
const reconciled = Effect.fnUntraced(function*({ rested, staff, url }: StoreDay, storeId: string) {
  const run = onDatabase(
    url,
    (sql) =>
      Effect.map(
        sql<{ finishedAt: Date; report: object }>`select finished_at as "finishedAt", last_report as report
      from channel_runs where store_id = ${storeId} and task = 'reconcile' and phases = '[]'`,
        ([row]) => row
      )
  )
  const before = yield* run
  assert.strictEqual((yield* staff("POST", `/channels/stores/${storeId}/reconcile`)).status, 201)
  const { report } = yield* eventually(
    "the store is reconciled",
    Effect.map(run, (now) => now?.finishedAt.getTime() === before?.finishedAt.getTime() ? undefined : now)
  )
  yield* rested
  return report
})

const nothing = {
  imported: 0,
  converged: 0,
  linked: 0,
  archived: 0,
  inventoryUpdated: 0,
  openConflicts: 0,
  webhooksRegistered: 0,
  skipped: [],
  warnings: []
}

/** What is gone at a store is archived, sold out sizes are those that it no longer has, and the rest is equal. */
const sameGoods = Effect.fnUntraced(function*({ url }: StoreDay, storeId: string, there: ReturnType<typeof wooGoods>) {
  const here = yield* goodsHere(url, storeId)
  const gone = here.filter(({ id }) => there[id] === undefined)
  assert.deepStrictEqual(gone.map(({ goods }) => goods.state.split(" ", 1)).flat(), gone.map(() => "archived"))
  const known = here.filter(({ id }) => there[id] !== undefined)
  const shown = known.map(({ goods, id }) => {
    const units = Object.entries(goods.units)
    const has = (unit: string) => unit in (there[id]?.units ?? {})
    assert.deepStrictEqual(units.filter(([unit, [, , available]]) => !has(unit) && available !== 0), [], id)
    return [id, { ...goods, units: Object.fromEntries(units.filter(([unit]) => has(unit))) }] as const
  })
  assert.deepStrictEqual(Object.fromEntries(shown), there)
  assert.deepStrictEqual([...new Set(here.map(({ listed }) => listed))], [here.length])
})

type SaleThere = ReturnType<typeof wooSales>[number]

/** What the store gave back of an order, which is there once, or undefined where it does not ship it. */
const sameSale = (here: SaleHere, there: ReadonlyArray<SaleThere>) => {
  const { lines, orderId, sent, state, status, tracking } = here
  const found = there.filter((one) => one.orderId === orderId)
  const note = JSON.stringify({ here, found })
  assert.isAtMost(found.length, 1, note)
  const [one] = found
  if (status === "cancelled") {
    assert.isTrue(one === undefined || one.isCancelled, note)
    return 0
  }
  if (state === "abandoned") {
    assert.isUndefined(one, note)
    assert.strictEqual(here.open, 0, note)
    return Object.values(lines).reduce((sum, [, cents]) => sum + cents, 0)
  }
  assert.strictEqual(state, "confirmed", note)
  const sale: Sale = { lines, sent, tracking }
  assert.deepStrictEqual(one?.sale, sale, note)
  if (one?.isCancelled === true) assert.strictEqual(here.open, 0, note)
  return one?.refunded ?? 0
}

for (const seed of seeds) {
  it.live(`has what its stores have after a day of events, lost webhooks and kills (STOA_TEST_SEED=${seed})`, () =>
    Effect.gen(function*() {
      const day = yield* storeDay(seed)
      const { shopify, url, woo } = day
      const stores = yield* openStores(day)
      yield* live(day)
      yield* settle(day)
      for (const id of Object.values(stores)) {
        yield* reconciled(day, id)
        assert.deepStrictEqual(yield* reconciled(day, id), nothing)
      }

      yield* sameGoods(day, stores.woo, wooGoods(woo))
      yield* sameGoods(day, stores.shopify, shopifyGoods(shopify))
      assert.deepStrictEqual(yield* stockOfOurs(url, stores.woo), wooStockOfOurs(woo))
      assert.deepStrictEqual(yield* stockOfOurs(url, stores.shopify), shopifyStockOfOurs(shopify))
      const refunds = new Map<string, { readonly here: number; there: number }>()
      for (const [id, there] of [[stores.woo, wooSales(woo)], [stores.shopify, shopifySales(shopify)]] as const) {
        const here = yield* salesHere(url, id)
        for (const one of here) {
          const given = refunds.get(one.orderId) ?? { here: one.refunded, there: 0 }
          given.there += sameSale(one, there)
          refunds.set(one.orderId, one.status === "cancelled" ? { here: one.refunded, there: one.total } : given)
        }
        assert.deepStrictEqual(there.filter(({ orderId }) => !here.some((one) => one.orderId === orderId)), [])
      }
      const differing = [...refunds].filter(([, { here, there }]) => here !== there)
      assert.deepStrictEqual(differing, [])

      const [left] = yield* onDatabase(url, (sql) =>
        sql`select
        (select json_agg(distinct state) from channel_order_exports where state not in ('confirmed', 'abandoned')) as exports,
        (select json_agg(distinct last_error) from channel_refund_requests where state <> 'executed') as refunds,
        (select json_agg(status) from connected_stores where status <> 'connected') as stores,
        (select json_agg(distinct task_slug || ': ' || error) from commerce_jobs where status = 'failed'
          and task_slug like 'channel%' and not (max_attempts = 1
            and error ~ '^The process that ran it ended|^The task took longer')) as jobs`)
      assert.deepStrictEqual(left, { exports: null, refunds: null, stores: null, jobs: null })

      const before = yield* written(url)
      for (const id of Object.values(stores)) assert.deepStrictEqual(yield* reconciled(day, id), nothing)
      assert.deepStrictEqual(yield* written(url), before)
    }).pipe(Effect.scoped))
}
