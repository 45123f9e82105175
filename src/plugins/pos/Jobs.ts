import { DateTime, Effect } from "effect"
import { defineTask, type PluginCall, type PluginContext } from "stoa/plugin"
import { makeClosing } from "./Closings.ts"
import { voidPaid } from "./Completion.ts"
import { takeDuePayments } from "./DuePaymentsRepo.ts"
import { signRecords } from "./Fiscal.ts"
import { endLogins } from "./Logins.ts"
import { giveBackPayment, settlePayment } from "./Payments.ts"
import type { PosSettings } from "./PosOptions.ts"
import { payments, transactions } from "./Sales.ts"
import { loadSale } from "./SaleStore.ts"
import { logins, shifts } from "./Shifts.ts"
import { dayOf, findTerminal } from "./Terminals.ts"

/** Voids a held sale whose time is over, unless it was recalled meanwhile. */
const expire = Effect.fnUntraced(function*(call: PluginCall, id: string) {
  const found = yield* loadSale(call.db, id)
  if (found.transaction.status === "held") yield* voidPaid(call, found, { voidReason: "expired" })
})

/** Asks what became of a payment whose request died; of a voided sale it is given back. */
const settle = Effect.fnUntraced(function*(call: PluginCall, id: string) {
  const payment = yield* call.db.table(payments).get(id)
  const { transaction } = yield* loadSale(call.db, payment.transactionId)
  yield* transaction.status === "open" || transaction.status === "held"
    ? settlePayment(call, payment)
    : giveBackPayment(call, payment)
})

const safely = <A, E, R>(what: string, work: Effect.Effect<A, E, R>) =>
  Effect.catchCause(work, (cause) => Effect.logWarning(what, cause))

/** Each of them in calls of its organization, outside of transactions: providers are asked. */
const each = <T extends { readonly id: string }, E, R>(
  what: string,
  rows: ReadonlyArray<T>,
  work: (row: T) => Effect.Effect<unknown, E, R>,
  concurrency = 1
) => Effect.forEach(rows, (row) => safely(`${what} ${row.id}`, work(row)), { concurrency, discard: true })

const minute = 60_000

/** Jobs of tills (contract-tills-channels §A.10). */
export const posTasks = (context: PluginContext, { closeDay, maxHoldHours }: PosSettings) => [
  defineTask({
    slug: "pos/expire-held",
    schedule: "*/10 * * * *",
    everyOrganization: true,
    handler: Effect.fn("Pos.expireHeld")(function*() {
      const call = yield* context.call
      const before = new Date((yield* DateTime.nowAsDate).getTime() - maxHoldHours * 60 * minute)
      const due = yield* call.db.table(transactions).list({ status: "held", updatedAt: { lt: before } }, { limit: 500 })
      yield* each("held transaction", due, ({ id }) => expire(call, id))
    })
  }),
  defineTask({
    slug: "pos/settle-payments",
    schedule: "* * * * *",
    everyOrganization: true,
    handler: Effect.fn("Pos.settlePayments")(function*() {
      const call = yield* context.call
      const due = yield* call.db.use(takeDuePayments)(yield* DateTime.nowAsDate, 500)
      // Several at once: a provider that is away holds each up until its time-out.
      yield* each("pending payment", due, ({ id }) => settle(call, id), 8)
    })
  }),
  defineTask({
    slug: "pos/sign",
    schedule: "* * * * *",
    everyOrganization: true,
    handler: Effect.fn("Pos.sign")(function*() {
      const { db } = yield* context.call
      return { output: { signed: yield* signRecords(db, yield* DateTime.nowAsDate) } }
    })
  }),
  defineTask({
    slug: "pos/end-logins",
    schedule: "7 * * * *",
    everyOrganization: true,
    handler: Effect.fn("Pos.endLogins")(function*() {
      const call = yield* context.call
      const due = yield* call.db.table(logins).list({ expiresAt: { lt: yield* DateTime.nowAsDate } }, { limit: 500 })
      yield* each("login", due, ({ apiKeyId }) => endLogins(call, { apiKeyId }))
    })
  }),
  ...(closeDay
    ? [defineTask({
      slug: "pos/close-day",
      schedule: "13 * * * *",
      everyOrganization: true,
      handler: Effect.fn("Pos.closeDay")(function*() {
        const call = yield* context.call
        const now = yield* DateTime.nowAsDate
        const waiting = yield* call.db.table(shifts).list({ closingId: null, status: "closed" })
        const ids = [...new Set(waiting.map(({ terminalId }) => terminalId))].map((id) => ({ id }))
        yield* each("closing of terminal", ids, ({ id }) =>
          Effect.gen(function*() {
            const terminal = yield* findTerminal(call.db, id)
            const [first] = waiting.filter(({ terminalId }) => terminalId === id)
            if (first === undefined || (yield* dayOf(terminal, first.createdAt)) === (yield* dayOf(terminal, now))) {
              return
            }
            yield* makeClosing(call, id)
          }))
      })
    })]
    : [])
]
