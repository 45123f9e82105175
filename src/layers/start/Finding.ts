import { Data, Effect } from "effect"

/** What a look at one thing that a start needs came to. */
export interface Finding {
  readonly ok: boolean
  readonly text: string
  /** What to do about it. */
  readonly advice?: string
}

export const well = (text: string): Finding => ({ ok: true, text })

export const wrong = (text: string, advice: string): Finding => ({ ok: false, text, advice })

/** A finding in one line. */
export const lineOf = ({ advice, text }: Finding): string => advice === undefined ? text : `${text} -> ${advice}`

/** The start cannot succeed; the message has a line for each thing that is wrong. */
export class CannotStart extends Data.TaggedError("CannotStart")<{ readonly message: string }> {}

/** Ends a start where something is wrong. */
export const refuseWrong = (findings: ReadonlyArray<Finding>): Effect.Effect<void, CannotStart> => {
  const lines = findings.filter(({ ok }) => !ok).map(lineOf)
  return lines.length === 0 ? Effect.void : Effect.fail(new CannotStart({ message: lines.join("\n") }))
}
