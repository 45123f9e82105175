import { Effect } from "effect"
import { notFound } from "../../../domain/platform/errors/ErrorKinds.ts"
import { RowNotFound } from "../tables/TableHandle.ts"

export const article = (noun: string): string => `${/^(?!uni)[aeiou]/i.test(noun) ? "an" : "a"} ${noun}`

export const capitalized = (words: string): string => `${words.charAt(0).toUpperCase()}${words.slice(1)}`

class RecordNotFound extends notFound("Record", (noun: string) => `${noun} not found.`) {}

/** Says in a 404 what there is not: "Purchase order not found." */
export const withNoun = <A, E, R>(noun: string, work: Effect.Effect<A, E, R>) =>
  Effect.catchIf(
    work,
    (error) => error instanceof RowNotFound,
    () => new RecordNotFound(capitalized(noun))
  )
