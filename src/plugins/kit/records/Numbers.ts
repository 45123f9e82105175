import { Effect } from "effect"
import type { CurrentActor } from "../../../domain/platform/access/Actor.ts"
import { today } from "../../../domain/platform/text/BusinessDate.ts"
import type { Usable } from "../tables/PluginDatabase.ts"

/** The parts of a number of a document. */
export interface NumberParts {
  readonly kind: string
  /** Empty without one. */
  readonly scope: string
  /** `2026` or `20261125`; empty without one. */
  readonly period: string
  /** From 1, in its scope and period. */
  readonly value: number
}

/** How documents are numbered; `Of` is what the scope is taken from. */
export interface NumberOptions<Of> {
  /** Begins the number: `PO`. One counter of the plugin for each kind. */
  readonly kind: string
  /** Begins at 1 again in every year, or on every day. */
  readonly period?: "year" | "day"
  /** The day that a period is taken from, such as the `businessDate` of a till; in its scope it never goes back. Default: today in the store. */
  readonly date?: (of: Of) => string
  /** A counter for each scope, for example for each till. */
  readonly scope?: (of: Of) => string
  /** Default `PO-0001`, with a period `PO-2026-0001`, with a scope `PO-<scope>-2026-0001`. */
  readonly format?: (parts: NumberParts) => string
}

/** Numbers of documents on a database. */
export interface NumberSource<Of> {
  /**
   * The next number of the organization. It holds its counter until the caller's transaction ends, so that numbers have no
   * gaps: take it in the transaction of the document, and numbers of several kinds in one order.
   */
  readonly next: (of: Of) => Effect.Effect<string, never, CurrentActor>
}

/** Numbers of documents. */
export interface Numbers<Of> extends Usable<NumberSource<Of>> {}

const digits = { year: 4, day: 8 }

const usual = ({ kind, period, scope, value }: NumberParts): string =>
  [kind, scope, period, String(value).padStart(4, "0")].filter((part) => part !== "").join("-")

/** Numbers that documents of an organization get one after the other (contract, plugins §0). */
export const numbers = <Of = unknown>(
  { date, format = usual, kind, period, scope }: NumberOptions<Of>
): Numbers<Of> => ({
  on: (db) => ({
    next: Effect.fn("Numbers.next")(function*(of) {
      const day = (date?.(of) ?? (yield* today)).replaceAll("-", "")
      const asked = {
        kind,
        scope: scope?.(of) ?? "",
        period: period === undefined ? "" : day.slice(0, digits[period])
      }
      return format({ ...asked, ...(yield* db.nextNumber(asked)) })
    })
  })
})
