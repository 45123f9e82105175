import { Data, Effect } from "effect"

export interface Finding {
  readonly ok: boolean
  readonly text: string
  readonly advice?: string
}

export const well = (text: string): Finding => ({ ok: true, text })

export const wrong = (text: string, advice: string): Finding => ({ ok: false, text, advice })

export const lineOf = ({ advice, text }: Finding): string => advice === undefined ? text : `${text} -> ${advice}`

/** The message has a line per problem. */
export class CannotStart extends Data.TaggedError("CannotStart")<{ readonly message: string }> {}

export const refuseWrong = (findings: ReadonlyArray<Finding>): Effect.Effect<void, CannotStart> => {
  const lines = findings.filter(({ ok }) => !ok).map(lineOf)
  return lines.length === 0 ? Effect.void : Effect.fail(new CannotStart({ message: lines.join("\n") }))
}
