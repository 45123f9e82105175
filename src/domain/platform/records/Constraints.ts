import { Effect, Predicate } from "effect"
import type { SqlError } from "effect/sql"

interface Refusal {
  readonly state: string
  readonly constraint: string
}

const textAt = (value: unknown, key: string): string => {
  const found = Predicate.hasProperty(value, key) ? value[key] : undefined
  return typeof found === "string" ? found : ""
}

/** The one place that knows where the driver keeps SQLSTATE and constraint. */
export const refusalOf = ({ reason }: SqlError.SqlError): Refusal => {
  const cause = Predicate.hasProperty(reason, "cause") ? reason.cause : undefined
  return { state: textAt(cause, "code"), constraint: textAt(reason, "constraint") || textAt(cause, "constraint") }
}

export const sqlStates = {
  restrict: "23001",
  foreignKey: "23503",
  unique: "23505",
  check: "23514",
  exclusion: "23P01",
  outOfRange: "22003"
} as const

/**
 * Errors of a refused statement, by constraint or else SQLSTATE; other failures are defects.
 *
 * sql`insert …`.pipe(Effect.catchTag("SqlError", refusedBy({ brands_slug: () => new BrandSlugTaken() })))
 */
export const refusedBy = <E extends Readonly<Record<string, unknown>>>(
  errors: { readonly [Name in keyof E]: () => E[Name] }
) => {
  const byName = new Map<string, () => E[keyof E]>(Object.entries(errors))
  return (error: SqlError.SqlError): Effect.Effect<never, E[keyof E]> => {
    const { constraint, state } = refusalOf(error)
    const made = byName.get(constraint) ?? byName.get(state)
    return made === undefined ? Effect.die(error) : Effect.fail(made())
  }
}
