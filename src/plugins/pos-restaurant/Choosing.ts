import type { PriceStep } from "stoa/plugin"
import type { Choices } from "./MenuRepo.ts"

type Choice = Choices["choices"][number]

/** What a line names of a group. */
export interface Chosen {
  readonly groupId: string
  readonly ids: ReadonlyArray<string>
}

/** What was chosen, and why it is refused. */
export interface Picked {
  readonly choices: ReadonlyArray<Choice>
  readonly problem: string | undefined
}

const quoted = (name: string) => `“${name}”`

const problemIn = (group: Choices, of: string, { ids }: Chosen): string | undefined => {
  const known = ids.map((id) => group.choices.find((choice) => choice.id === id))
  if (known.includes(undefined)) return `${quoted(group.name)} of ${of} does not offer one of the choices.`
  const sold = known.find((choice) => choice?.isAvailable === false)
  if (sold !== undefined) return `${quoted(sold.name)} is not available for ${of}.`
  if (new Set(ids).size < ids.length) return `Choose each of ${quoted(group.name)} once for ${of}.`
  const { maxSelect, minSelect, name } = group
  if (ids.length < minSelect) return `Choose at least ${minSelect} of ${quoted(name)} for ${of}.`
  return ids.length > maxSelect ? `Choose at most ${maxSelect} of ${quoted(name)} for ${of}.` : undefined
}

/** Holds what a line names to the groups that its entity has. `field`: of the line's metadata. */
export const choose = (groups: ReadonlyArray<Choices>, chosen: ReadonlyArray<Chosen> | undefined, {
  field,
  form,
  of
}: { readonly field: string; readonly form: string; readonly of: string }): Picked => {
  if (chosen === undefined) return { choices: [], problem: `metadata.${field} of ${of} must be ${form}.` }
  const named = chosen.map(({ groupId }) => groupId)
  const problem = named.some((id) => groups.every((group) => group.id !== id))
    ? `metadata.${field} names a group that ${of} does not have.`
    : new Set(named).size < named.length
    ? `metadata.${field} of ${of} must name each group once.`
    : groups.map((group) => problemIn(group, of, chosen.find(({ groupId }) => groupId === group.id) ?? none(group)))
      .find((found) => found !== undefined)
  return { problem, choices: groups.flatMap((group) => choicesOf(group, chosen)) }
}

const none = ({ id }: Choices): Chosen => ({ groupId: id, ids: [] })

const choicesOf = (group: Choices, chosen: ReadonlyArray<Chosen>) => {
  const ids = chosen.find(({ groupId }) => groupId === group.id)?.ids ?? []
  return group.choices.filter(({ id }) => ids.includes(id))
}

/** Lowers what takes off so that a unit does not come below 0. */
export const fromZero = (unitPrice: number, steps: ReadonlyArray<PriceStep>): ReadonlyArray<PriceStep> => {
  let left = steps.reduce((sum, { amountPerUnit = 0 }) => sum + Math.max(0, amountPerUnit), unitPrice)
  return steps.map((step) => {
    const { amountPerUnit = 0 } = step
    if (amountPerUnit >= 0) return step
    const taken = Math.min(-amountPerUnit, left)
    left -= taken
    return { ...step, amountPerUnit: 0 - taken }
  })
}
