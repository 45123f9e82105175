import { Effect } from "effect"
import { ApiKeyId, holds, isUuid, type PluginCall } from "stoa/plugin"
import { approvalFor, freely } from "./Overrides.ts"
import type { Transaction } from "./Sales.ts"
import { logins, shifts } from "./Shifts.ts"
import { authorOf, devices, manage } from "./Terminals.ts"

/** The till whose device the caller has logged in at by PIN. */
const loginTerminal = Effect.fnUntraced(function*({ actor: { keyId }, db }: PluginCall) {
  if (keyId === undefined || !isUuid(keyId)) return undefined
  const login = yield* db.table(logins).first({ apiKeyId: ApiKeyId.make(keyId) })
  if (login === undefined || login.deviceKeyId === null) return undefined
  return (yield* db.table(devices).first({ apiKeyId: login.deviceKeyId, revokedAt: null }))?.terminalId
})

const isOwn = Effect.fnUntraced(function*(call: PluginCall, { shiftId, terminalId }: Transaction) {
  const { operatorId } = yield* call.db.table(shifts).get(shiftId)
  return operatorId === authorOf(call.actor) || terminalId === (yield* loginTerminal(call))
})

/**
 * Who may change open sales: the operator of their shift, and those who have logged in at their till, as waiters share tables. Others
 * need pos:manage or an override for `sale`: 403 without.
 */
export const changeOf = Effect.fnUntraced(function*(
  call: PluginCall,
  sales: ReadonlyArray<Transaction>,
  token: string | undefined
) {
  if (holds(call.actor, manage)) return freely
  for (const sale of sales) {
    if (yield* isOwn(call, sale)) continue
    return yield* approvalFor(call, { action: "sale", permission: manage, token, transactionId: sale.id })
  }
  return freely
})
