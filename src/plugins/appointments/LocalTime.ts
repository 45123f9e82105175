import { DateTime } from "effect"

export const minute = 60_000
export const day = 86_400_000

/** A stretch of time in which a zone keeps one distance from UTC. All numbers are milliseconds. */
export interface Stretch {
  readonly from: number
  readonly until: number
  readonly offset: number
}

const offsetAt = (zone: DateTime.TimeZone, at: number): number =>
  DateTime.zonedOffset(DateTime.setZone(DateTime.makeUnsafe(at), zone))

/** The first minute after `from` at which the zone has another offset than then. */
const changeAfter = (zone: DateTime.TimeZone, from: number, until: number): number => {
  const offset = offsetAt(zone, from)
  let [before, after] = [from, until]
  while (after - before > minute) {
    const middle = before + Math.floor((after - before) / 2 / minute) * minute
    if (offsetAt(zone, middle) === offset) before = middle
    else after = middle
  }
  return after
}

/** The stretches of a zone between two midnights of UTC. It looks once a week: no zone changes there and back within one. */
export const stretchesOf = (zone: DateTime.TimeZone, from: number, until: number): ReadonlyArray<Stretch> => {
  const stretches: Array<Stretch> = []
  let [since, offset] = [-Infinity, offsetAt(zone, from)]
  for (let at = from; at < until; at += 7 * day) {
    const next = offsetAt(zone, at + 7 * day)
    if (next === offset) continue
    const change = changeAfter(zone, at, at + 7 * day)
    stretches.push({ from: since, until: change, offset })
    since = change
    offset = next
  }
  return [...stretches, { from: since, until: Infinity, offset }]
}

/**
 * When hours open that begin at a local time, which is written as if it were UTC. A time that comes twice is the first one;
 * of an hour that is left out it is its end.
 */
export const openingAt = (stretches: ReadonlyArray<Stretch>, local: number): number => {
  for (const { from, offset, until } of stretches) if (local - offset < until) return Math.max(local - offset, from)
  return Infinity
}

/** The first moment from `at` on at which the local minutes of the hour are a multiple of `step`, a divisor of 60. */
export const stepAt = (stretches: ReadonlyArray<Stretch>, at: number, step: number): number => {
  for (const { from, offset, until } of stretches) {
    const found = Math.ceil((Math.max(at, from) + offset) / minute / step) * step * minute - offset
    if (found < until) return found
  }
  return Infinity
}

/** When hours close that end at a local time: a time that comes twice is the second one. */
export const closingAt = (stretches: ReadonlyArray<Stretch>, local: number): number => {
  let closing = -Infinity
  for (const { from, offset, until } of stretches) if (local - offset > from) closing = Math.min(local - offset, until)
  return closing
}
