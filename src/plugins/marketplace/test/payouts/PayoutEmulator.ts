import { Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { onDatabase } from "../../../../../test/checkout/CheckoutFixtures.ts"
import { atOnce } from "../../../../../test/support/AtOnce.ts"
import { sharedClient } from "../../../../../test/support/SharedClients.ts"
import { asAdmin, type Call, TestApp } from "../../../../../test/support/TestApp.ts"
import type { PayoutAdapter, Transfer, TransferOutcome } from "../../payouts/PayoutAdapter.ts"
import { done } from "../Calls.ts"

/** `lost`: pays, and its answer does not arrive. `garbled`: pays, and leaves half of its answer out. */
export type Behaviour = "pay" | "refuse" | "hold" | "throw" | "reject" | "lost" | "silent" | "garbled"

const down = () => Promise.reject(new Error("The line is down."))

/** An adapter and the bank behind it, which moves the money of a key once, for any number of calls and for any response. */
export const payoutEmulator = () => {
  const calls: Array<Transfer> = []
  const moved = new Map<string, Transfer>()
  const behaviours = new Map<string, Behaviour>()
  const waiting = new Map<string, Promise<void>>()
  const pay = (transfer: Transfer): TransferOutcome => {
    moved.set(transfer.idempotencyKey, moved.get(transfer.idempotencyKey) ?? transfer)
    return { status: "completed", reference: `tr_${transfer.idempotencyKey}` }
  }
  const outcomes: { readonly [B in Behaviour]: (transfer: Transfer) => Promise<TransferOutcome> } = {
    pay: async (transfer) => pay(transfer),
    refuse: async () => ({ status: "failed", reason: "The account is closed." }),
    hold: async () => ({ status: "processing", reference: "tr_waiting" }),
    throw: () => {
      throw new Error("The line is down.")
    },
    reject: down,
    lost: (transfer) => {
      pay(transfer)
      return down()
    },
    garbled: async (transfer) => JSON.parse(`{ "status": "${pay(transfer).status}" }`),
    silent: () => new Promise(() => {})
  }
  const adapter: PayoutAdapter = {
    name: "emulated",
    transfer: async (transfer) => {
      calls.push(transfer)
      const later = waiting.get(transfer.vendorId)
      waiting.delete(transfer.vendorId)
      if (later === undefined) return outcomes[behaviours.get(transfer.vendorId) ?? "pay"](transfer)
      await later
      return pay(transfer)
    }
  }
  const ofVendor = (transfers: Iterable<Transfer>, id: string) =>
    [...transfers].filter(({ vendorId }) => vendorId === id)
  return {
    adapter,
    callsOf: (vendorId: string) => ofVendor(calls, vendorId),
    /** What went to a vendor in all, minor units of a currency. */
    paid: (vendorId: string, currency = "USD") =>
      ofVendor(moved.values(), vendorId).reduce((sum, one) => sum + (one.currency === currency ? one.amount : 0), 0),
    /** What is done with the next calls for this vendor. Default: pays. */
    behave: (vendorId: string, behaviour: Behaviour) => behaviours.set(vendorId, behaviour),
    /** The next call for this vendor is answered, with a payment, when the function that this gives is called. */
    answerLater: (vendorId: string) => {
      const { promise, resolve } = Promise.withResolvers<void>()
      waiting.set(vendorId, promise)
      return resolve
    }
  }
}

/** What a run has paid to the vendors that it is asked for: `amount currency` each. */
export const paidBy = (
  body: { readonly vendorIds: ReadonlyArray<string>; readonly force?: boolean },
  as: Call["as"] = asAdmin
) =>
  Effect.map(
    done(as, "POST /payouts/run", body),
    (answer) => answer.list("data").map((made) => `${Object(made).netAmount} ${Object(made).currency}`)
  )

export const payoutsOf = (vendorId: string) =>
  Effect.map(done(asAdmin, `GET /payouts?vendorId=${vendorId}&limit=100`), (all) => all.list("data").map(Object))

/** The only payout of a vendor. */
export const payoutOf = Effect.fnUntraced(function*(vendorId: string) {
  const [payout, ...others] = yield* payoutsOf(vendorId)
  if (payout === undefined || others.length > 0) throw new Error(`${others.length + 1} payouts of one vendor`)
  return payout
})

/** The adapter is asked again now, and not in a minute. */
export const aMinuteLater = onDatabase((sql) =>
  sql`update marketplace_vendor_payouts set due_at = now(), asked_until = null where status = 'processing'`
)

/** Does all of these at the same moment, in this order: each waits for rows of a vendor's until the last one does. */
export const whileHeld = <A, E>(
  rows: "accounts" | "balances",
  vendorId: string,
  all: ReadonlyArray<Effect.Effect<A, E, TestApp>>
) => {
  const held = (sql: SqlClient.SqlClient): Statement.Statement<unknown> =>
    sql`select 1 from ${sql(`marketplace_vendor_${rows}`)} where vendor_id = ${vendorId}::uuid for update`
  return Effect.flatMap(TestApp, ({ databaseUrl }) => Effect.provide(atOnce(held, all), sharedClient(databaseUrl)))
}
