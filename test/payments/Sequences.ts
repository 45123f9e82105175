/**
 * What happens to a checkout whose shopper has to confirm the payment. `place`: its run goes on from the authorization.
 * `confirm`: the shopper confirms, and their client repeats the checkout. `success`, `duplicate`, `failure`: events of the
 * provider, the second with the id of the first. `time-out`: the time to confirm is over. `cancel`: by staff. `expiry`: the
 * hold's time is over. `kill`: the process that works on it dies, at the step where it is, or at the next one.
 */
export const happenings = [
  "confirm",
  "success",
  "duplicate",
  "failure",
  "time-out",
  "cancel",
  "expiry",
  "kill"
] as const

export type Happening = typeof happenings[number] | "place"

const subsets = <A>(of: ReadonlyArray<A>, size: number): ReadonlyArray<ReadonlyArray<A>> => {
  const [first, ...others] = of
  if (size === 0) return [[]]
  if (first === undefined) return []
  return [...subsets(others, size - 1).map((rest) => [first, ...rest]), ...subsets(others, size)]
}

const permutations = <A>(of: ReadonlyArray<A>): ReadonlyArray<ReadonlyArray<A>> =>
  of.length === 0
    ? [[]]
    : of.flatMap((one, n) => permutations(of.filter((_, other) => other !== n)).map((rest) => [one, ...rest]))

/**
 * Leaves out what differs from another sequence by name only: a duplicate before the event it repeats; what an order has
 * to be there for, before there is one (sequences of one happening and `place` show that it does nothing); the end of a
 * hold that is sold; and more than two happenings beside a hold that ends before there is an order.
 */
const tellsMore = (sequence: ReadonlyArray<Happening>): boolean => {
  const at = (happening: Happening) => sequence.indexOf(happening)
  if (sequence.length <= 2) return true
  if (at("success") >= 0 && at("duplicate") >= 0 && at("duplicate") < at("success")) return false
  if (
    ["time-out", "cancel", "failure"].some((one) => sequence.slice(0, at("place")).some((happened) => happened === one))
  ) {
    return false
  }
  return at("expiry") < 0 || at("expiry") < at("place") && sequence.length <= 4
}

/** Every order of `place` and this many of the happenings. */
export const sequencesOf = (size: number): ReadonlyArray<ReadonlyArray<Happening>> =>
  subsets<Happening>(happenings, size).flatMap((chosen) => permutations<Happening>(["place", ...chosen])).filter(
    tellsMore
  )
