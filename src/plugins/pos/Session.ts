import { DateTime, Effect, Schema } from "effect"
import { hash } from "node:crypto"
import { promisify } from "node:util"
import { gzip } from "node:zlib"
import { type CurrencyCode, type EntityId, type PluginCall, uuid } from "stoa/plugin"
import { PosExtensions } from "./Extensions.ts"
import { PosOptions } from "./PosOptions.ts"
import { changesSince, lastPosition, type Sellable, sellablesAfter, windowsBetween } from "./SessionRepo.ts"
import { activeTerminal, authorOf, placeOf, routes, type Terminal, tillOrDevice } from "./Terminals.ts"

/** What a cursor says: the last change, and the time, that an answer knew. */
interface Since {
  readonly position: number
  readonly at: Date
}

const Cursor = Schema.String.check(Schema.isPattern(/^\d{1,15}(\.\d{1,14})?$/, { expected: "a cursor of this route" }))

/** Undefined for one without a time, of an earlier version. */
const sinceOf = (cursor: string | undefined): Since | undefined => {
  const [position, at] = cursor?.split(".") ?? []
  return at === undefined ? undefined : { position: Number(position), at: new Date(Number(at)) }
}

const compress = promisify(gzip)
const pageSize = 500

/** Goods with the prices and taxes of the till, as many as there are. */
const pricedGoods = Effect.fnUntraced(function*(
  call: PluginCall,
  terminal: Terminal,
  currency: CurrencyCode,
  only: ReadonlyArray<EntityId> | undefined
) {
  const { asStore, db, services } = call
  const handedOverAt = yield* placeOf(terminal, call)
  const goods: Array<object> = []
  for (let after = "";;) {
    const page: ReadonlyArray<Sellable> = yield* db.use(sellablesAfter)(only, after, pageSize)
    if (page.length > 0) {
      const known = yield* asStore(services.orders.priceList({
        currency,
        handedOverAt,
        goods: page.map(({ entityId, variantId }) => ({ entityId, variantId }))
      }))
      const prices = new Map(known.map(({ entityId, variantId, ...price }) => [`${entityId}${variantId ?? ""}`, price]))
      goods.push(...page.flatMap((one) => {
        const price = prices.get(`${one.entityId}${one.variantId ?? ""}`)
        return price === undefined ? [] : [{ ...one, ...price }]
      }))
    }
    const last = page.at(-1)
    if (last === undefined || page.length < pageSize) return goods
    after = `${last.entityId}${last.variantId ?? ""}`
  }
})

/** Which goods may have another price since an answer, all if undefined, and when the next ones may. */
const changedGoods = Effect.fnUntraced(function*({ db }: PluginCall, now: Date, since: Since | undefined) {
  const timed = yield* db.use(windowsBetween)(since?.at ?? now, now)
  const written = since === undefined ? { isWide: true, entityIds: [] } : yield* db.use(changesSince)(since.position)
  const only = timed.isWide || written.isWide ? undefined : [...new Set([...written.entityIds, ...timed.entityIds])]
  return { only, validUntil: timed.next }
})

/** Everything that a till needs for a day without a connection; with a cursor what has changed since. */
const sessionOf = Effect.fn("Session.of")(function*(call: PluginCall, terminalId: string, since: Since | undefined) {
  const { actor, db } = call
  const terminal = yield* activeTerminal(db, terminalId)
  const { defaultCurrency, discountOverrideThreshold, refundTo, unlinkedReturns } = yield* PosOptions
  // Read before the goods: what changes meanwhile comes again with the next call.
  const now = yield* DateTime.nowAsDate
  const cursor = `${yield* db.use(lastPosition)()}.${now.getTime()}`
  const { only, validUntil } = yield* changedGoods(call, now, since)
  const { all } = yield* PosExtensions
  const added = yield* Effect.forEach(
    all().flatMap(({ session }) => session ?? []),
    ({ name, read }) => Effect.map(read(terminal), (data) => [name, data] as const)
  )
  return {
    ...Object.fromEntries(added),
    cursor,
    validUntil,
    isComplete: only === undefined,
    terminal,
    operatorId: authorOf(actor),
    permissions: actor.permissions.filter((permission) => permission === "*:*" || permission.startsWith("pos:")),
    currency: defaultCurrency,
    rules: { discountOverrideThreshold, refundTo, unlinkedReturns },
    changed: only ?? [],
    goods: only?.length === 0 ? [] : yield* pricedGoods(call, terminal, defaultCurrency, only)
  }
})

/** The data of a till without a connection (contract-tills-channels §A, screens come later). */
export const sessionRoute = routes.raw("GET", "/session", {
  summary: "Get what a terminal needs to sell offline",
  description:
    "`data` has the terminal, permissions and rules, and `goods` with price, steps, taxes, SKU and barcode. With the `cursor` of "
    + "an earlier answer it has the goods of entities in `changed` alone; one of these without goods is not sold any more. "
    + "`validUntil`: when a price begins or ends next; ask again then. `isComplete`: it has all goods, and replaces what the terminal knows. 304 for the `ETag` in If-None-Match. 404, 422.",
  ...tillOrDevice,
  rate: "strict",
  produces: "application/json",
  query: {
    terminalId: uuid.schema,
    cursor: Schema.optional(Cursor)
  }
}, (call) =>
  Effect.gen(function*() {
    const data = yield* sessionOf(call, call.query.terminalId, sinceOf(call.query.cursor))
    const { cursor: _, ...content } = data
    const etag = `"${hash("sha256", JSON.stringify(content), "base64url")}"`
    const headers = { etag, "cache-control": "private, no-cache", vary: "accept-encoding" }
    if (call.headers["if-none-match"] === etag) return { status: 304, headers, body: "" }
    const body = JSON.stringify({ data })
    if (!(call.headers["accept-encoding"] ?? "").includes("gzip")) return { headers, body }
    const packed = yield* Effect.promise(() => compress(body))
    return { headers: { ...headers, "content-encoding": "gzip" }, body: new Uint8Array(packed) }
  }))
