import { Context, type Effect, Layer } from "effect"
import { type CurrentActor, type ExtensionPoint, extensionPoint, type Order, type RouteError } from "stoa/plugin"
import type { Approval } from "./Overrides.ts"
import type { SaleLine } from "./Sales.ts"
import type { Sale } from "./SaleStore.ts"
import type { Shift } from "./Shifts.ts"
import type { Terminal } from "./Terminals.ts"

type Rule<A> = Effect.Effect<A, RouteError, CurrentActor>

/** A change of a line by staff. */
export interface LineMove {
  readonly sale: Sale
  readonly before: SaleLine
  /** Null: the line is removed. */
  readonly after: SaleLine | null
  readonly reason: string | undefined
  /** Of `x-pos-override`. */
  readonly token: string | undefined
}

/** Units of a line that a split or merge brings to another one. */
export interface MovedUnits {
  readonly from: string
  readonly to: string
  readonly quantity: number
}

/** Rules and data that another plugin adds to tills. Each runs as the caller, and may refuse. */
export interface PosExtension {
  /** Admits a change of a line; what it needs an approval for is allowed with the change. May run more than once. */
  readonly lineChanging?: (move: LineMove) => Rule<Approval | undefined>
  /** Runs in the transaction of a split or merge. */
  readonly linesMoved?: (moved: ReadonlyArray<MovedUnits>) => Rule<unknown>
  /** Runs in the transaction that completes a sale, with its order. */
  readonly completing?: (sale: Sale, order: Order) => Rule<unknown>
  /** Runs before a shift opens; `shiftId` is its id. */
  readonly shiftOpening?: (shiftId: string, terminal: Terminal) => Rule<unknown>
  /** Runs in the transaction that closes a shift. */
  readonly shiftClosing?: (shift: Shift, terminal: Terminal) => Rule<unknown>
  /** What terminals need of it to sell offline: part of `GET /session` under this name. */
  readonly session?: {
    readonly name: string
    readonly read: (terminal: Terminal) => Effect.Effect<object, never, CurrentActor>
  }
}

/** Where other plugins add their rules, in their layer. */
export class PosExtensions extends Context.Service<PosExtensions, ExtensionPoint<PosExtension>>()(
  "stoa/plugins/pos/PosExtensions"
) {
  static readonly layer = Layer.effect(PosExtensions, extensionPoint<PosExtension>())
}
