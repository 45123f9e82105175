import { Effect, Schema, Struct } from "effect"
import {
  about,
  type CurrentActor,
  CustomerId,
  invalid,
  notFound,
  type PluginCall,
  type RouteError,
  Text
} from "stoa/plugin"
import { type Changing, changingOf, shared } from "./LineRoutes.ts"
import { TransactionView } from "./Sales.ts"
import { changeSale, priced, type Sale, type SaleChange, viewOf } from "./SaleStore.ts"
import { changeOf } from "./Sharing.ts"
import { routes } from "./Terminals.ts"

class CodeNotFound extends notFound("PosCode", "The transaction has no such promotion code.") {}
class TooManyCodes extends invalid("PosCodes", "code", "A transaction takes at most 10 codes.") {}
class CodeRefused extends invalid("PosCodeRefused", "code", (reason: string) => `code does not apply: ${reason}.`) {}

const withCode = Effect.fnUntraced(function*(call: PluginCall, sale: Sale, code: string) {
  const { codes } = sale.transaction
  if (codes.includes(code)) return {}
  if (codes.length === 10) return yield* new TooManyCodes()
  const next = { codes: [...codes, code] }
  const { rejectedCodes } = yield* priced(call, { ...sale, transaction: { ...sale.transaction, ...next } })
  const rejected = rejectedCodes.find((one) => one.code === code)
  return rejected === undefined ? { transaction: next } : yield* new CodeRefused(rejected.reason)
})

/** Codes are the same in small letters, as promotions find them. */
const withoutCode = Effect.fnUntraced(function*({ transaction }: Sale, code: string) {
  const codes = transaction.codes.filter((one) => one.toLowerCase() !== code.toLowerCase())
  return codes.length === transaction.codes.length ? yield* new CodeNotFound() : { transaction: { codes } }
})

/** Changes the terms of a sale. */
const writeTerms = (
  call: PluginCall,
  { token, transactionId }: Changing,
  decide: (sale: Sale) => Effect.Effect<SaleChange, RouteError, CurrentActor>
) =>
  Effect.map(
    changeSale(call, transactionId, (sale) =>
      Effect.gen(function*() {
        const { spend } = yield* changeOf(call, [sale.transaction], token)
        return { ...yield* decide(sale), also: spend }
      })),
    viewOf
  )

export const termRoutes = [
  routes.post("/transactions/:id/codes", {
    summary: "Add a promotion code",
    description: "422 for a code that does not apply, or a transaction that is not open.",
    ...shared,
    input: Schema.Struct({ code: Text.pipe(about("Code of the customer, in any case.")) }),
    success: TransactionView
  }).handle((call) => writeTerms(call, changingOf(call), (sale) => withCode(call, sale, call.input.code))),
  routes.delete("/transactions/:id/codes/:code", {
    summary: "Remove a promotion code",
    description: "404 without transaction or code; 422 when it is not open.",
    ...Struct.omit(shared, ["strict"]),
    params: { code: Text },
    success: TransactionView
  }).handle((call) => writeTerms(call, changingOf(call), (sale) => withoutCode(sale, call.params.code))),
  routes.post("/transactions/:id/customer", {
    summary: "Set the customer of a transaction",
    description:
      "Prices and promotions of the customer apply. 404 without the transaction; 422 for an unknown customer.",
    ...shared,
    input: Schema.Struct({ customerId: CustomerId }),
    success: TransactionView
  }).handle((call) =>
    writeTerms(call, changingOf(call), () => Effect.succeed({ transaction: { customerId: call.input.customerId } }))
  )
]
