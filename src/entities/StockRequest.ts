import type { PinnedHold } from "../domain/inventory/Reservation.ts"
import type { StockShort } from "../domain/inventory/StockRules.ts"

/** Units of a sellable that a checkout asks for. */
export interface StockRequestLine {
  readonly sellable: string
  readonly entityId: string
  readonly quantity: number
}

/** A checkout that asks for stock, all of it or none. */
export interface StockRequest {
  readonly holder: string
  readonly lines: ReadonlyArray<StockRequestLine>
  readonly ttlSeconds: number
  readonly pricing: string
}

/** What a checkout is told. `pinned` is the pricing its holder wrote first, as JSON text. */
export type StockReply =
  | { readonly _tag: "Reserved"; readonly pinned: string; readonly fresh: boolean }
  | { readonly _tag: "Short"; readonly short: StockShort }
  | { readonly _tag: "Gone" }

/** What the holder of an earlier hold is told. */
export const answerOf = ({ pricing, state }: PinnedHold): StockReply =>
  state === "released" || state === "expired"
    ? { _tag: "Gone" }
    : { _tag: "Reserved", pinned: pricing, fresh: false }

/** Every sellable the requests name, once. */
export const sellablesOf = (requests: Iterable<StockRequest>): ReadonlySet<string> => {
  const sellables = new Set<string>()
  for (const { lines } of requests) for (const { sellable } of lines) sellables.add(sellable)
  return sellables
}
