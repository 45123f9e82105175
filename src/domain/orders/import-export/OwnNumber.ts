import { orderNumber } from "../Order.ts"

/** The n-th order of a year in this store's numbering. */
export interface OwnNumber {
  readonly year: number
  readonly sequence: number
}

/** A counter of a year, while an import holds it. */
export interface NumberCounter {
  readonly year: number
  /** The last number reserved by processes, which may still hold some unused ones in memory. */
  readonly given: number
  /** Skipped ranges, both ends included: no process holds these numbers. */
  readonly skipped: ReadonlyArray<readonly [first: number, last: number]>
}

/** Far more than a store sells in a year; a number beyond it would take those of all later orders with it. */
export const largestSequence = 999_999_999

const form = /^ORD-(\d{4})-(\d{6,19})$/

/** Older years get no counter: it would never hand out a number, and look-ups by digits query every counter. */
const oldestYears = 100

/**
 * The parts of a number in this store's format, for a year near `now`; undefined for a format only other systems use.
 */
export const ownNumberOf = (text: string, now: number): OwnNumber | undefined => {
  const [, year = "", digits = ""] = form.exec(text) ?? []
  const own = { year: Number(year), sequence: Number(digits) }
  const isOwn = year !== "" && own.sequence > 0 && own.year > now - oldestYears &&
    (own.sequence > largestSequence || orderNumber(own.year, own.sequence) === text)
  return isOwn ? own : undefined
}

/** Why a number cannot be brought by an import; undefined when it can. */
export const numberProblem = (
  own: OwnNumber | undefined,
  counters: ReadonlyMap<number, NumberCounter>,
  now: number
): string | undefined => {
  if (own === undefined) return undefined
  if (own.year > now) return "is one of a year that has not come yet"
  if (own.sequence > largestSequence) return `is beyond ${largestSequence} orders in a year`
  const { given, skipped } = counters.get(own.year) ?? { given: 0, skipped: [] }
  const isFree = own.sequence > given || skipped.some(([first, last]) => own.sequence >= first && own.sequence <= last)
  return isFree ? undefined : "is one that this store has given out itself, or is about to"
}
