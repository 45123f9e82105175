import { Result, Schema } from "effect"
import type { Issue } from "../../platform/errors/ApiErrors.ts"
import { conflict, notFound } from "../../platform/errors/ErrorKinds.ts"
import { about } from "../../platform/hints/Hints.ts"
import { type EntityId, FieldDefinitionId, OrganizationId, Uuid } from "../../platform/ids/Id.ts"
import { Amount, CurrencyCode } from "../../platform/money/Money.ts"
import { AnyJson, FreeText, ofForm, Text } from "../../platform/text/Storable.ts"
import { isDay, Time } from "../../platform/text/Time.ts"
import { EntityType, SortOrder } from "../Entity.ts"

export class FieldNotFound extends notFound("EntityField", "Custom field not found.") {}

export class ReferencesUnchecked extends conflict(
  "ReferencesUnchecked",
  "Entities have values in this field, which were not looked up as references."
) {}

export class DefaultNeeded extends conflict(
  "DefaultMissing",
  (lacking: number) =>
    `${lacking} entities of this type have no value of this field. Give it a default, or them a value.`
) {}

export class ValueRefused extends conflict(
  "FieldValueTaken",
  (entityId: EntityId, reason: string) => `Entity ${entityId} has a value that ${reason}`
) {}

const FieldKind = Schema.Literals(["text", "number", "boolean", "date", "enum", "money", "reference", "json"]).annotate(
  {
    description:
      "Kind of the values. money: minor units. enum: one of `rules.values`. reference: id of another entity. json: any JSON."
  }
)
type FieldKind = typeof FieldKind.Type

const FieldName = Schema.String.check(
  ofForm(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/, "a name of up to 64 letters, digits, _ and -, a letter first")
).annotate({ examples: ["material"] })

const Count = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 100_000 }))

const FieldRules = Schema.Struct({
  minLength: Schema.optional(Count).pipe(about("Fewest characters of a text.")),
  maxLength: Schema.optional(Count).pipe(about("Most characters of a text.")),
  minimum: Schema.optional(Schema.Finite).pipe(about("Least number, or least minor units of money.")),
  maximum: Schema.optional(Schema.Finite).pipe(about("Largest number, or most minor units of money.")),
  isInteger: Schema.optional(Schema.Boolean),
  values: Schema.optional(Schema.Array(Text).check(Schema.isBetweenLength(1, 500))).pipe(about("Words of an enum.")),
  entityType: Schema.optional(EntityType).pipe(about("Type of the entities that a reference may name; absent: any."))
}).annotate({ description: "Limits of the values. Each kind uses only some of them." })

const Flag = Schema.optional(Schema.Boolean)

/**
 * A custom field of a type of entities. Search finds filterable fields as `attr.<name>`. Only catalog staff see fields
 * that are not public.
 */
export const FieldDefinition = Schema.Struct({
  id: FieldDefinitionId,
  organizationId: OrganizationId,
  entityType: Schema.String.pipe(about("Type of the entities that have the field.")),
  name: Schema.String,
  label: Schema.String,
  kind: FieldKind,
  isRequired: Schema.Boolean,
  isUnique: Schema.Boolean,
  isFilterable: Schema.Boolean,
  isPublic: Schema.Boolean,
  rules: FieldRules,
  defaultValue: Schema.Unknown.pipe(
    about("Value of a new entity that sends none, and of entities without one when the field becomes required.")
  ),
  sortOrder: Schema.Int.pipe(about("Lower goes first.")),
  status: Schema.Literals(["active", "archived"]).pipe(about("Values of an archived field are kept but not shown.")),
  createdAt: Time,
  updatedAt: Time
}).annotate({ identifier: "EntityFieldDefinition" })
export type FieldDefinition = typeof FieldDefinition.Type

const optional = {
  label: Schema.optional(Text),
  isRequired: Flag,
  isUnique: Flag,
  isFilterable: Flag,
  isPublic: Flag,
  rules: Schema.optional(FieldRules),
  defaultValue: Schema.optional(AnyJson).pipe(
    about("Value of a new entity that sends none, and of entities without one when the field becomes required.")
  ),
  sortOrder: Schema.optional(SortOrder).pipe(about("Lower goes first."))
}

export const NewFieldDefinition = Schema.Struct({
  entityType: EntityType.pipe(about("Type of the entities that have the field.")),
  name: FieldName,
  kind: FieldKind,
  ...optional
})
export type NewFieldDefinition = typeof NewFieldDefinition.Type

/** Absent keys keep their value, `rules` replaces all rules, a null default removes it. */
export const FieldDefinitionChange = Schema.Struct({ kind: Schema.optional(FieldKind), ...optional })
export type FieldDefinitionChange = typeof FieldDefinitionChange.Type

export const FieldValue = Schema.Struct({
  name: Schema.String,
  label: Schema.String,
  kind: FieldKind,
  value: Schema.Unknown.pipe(about("JSON of the type that `kind` says.")),
  isPublic: Schema.Boolean
}).annotate({ identifier: "EntityFieldValue" })
export type FieldValue = typeof FieldValue.Type

type Rule = Pick<FieldDefinition, "kind" | "rules" | "isUnique">

/** Unique texts are indexed, so they are short. */
const maxKeyLength = 255
const maxTextLength = 10_000

const Money = Schema.Struct({ amount: Amount, currency: CurrencyCode })

const day = /^\d{4}-\d{2}-\d{2}$/

type Checked = Result.Result<unknown, string>

const refusal = (message: string): Checked => Result.fail(message)

const decoded = <A>(schema: Schema.Codec<A, unknown>, value: unknown, message: string): Checked => {
  const exit = Schema.decodeUnknownResult(schema)(value)
  return Result.isSuccess(exit) ? Result.succeed(exit.success) : refusal(message)
}

const within = ({ rules: { maximum, minimum } }: Rule, number: number): string | undefined => {
  if (minimum !== undefined && number < minimum) return `must be at least ${minimum}.`
  return maximum !== undefined && number > maximum ? `must be at most ${maximum}.` : undefined
}

const text = (rule: Rule, value: unknown): Checked => {
  if (!Schema.is(FreeText)(value)) return refusal("must be a string of valid Unicode without NUL.")
  const { maxLength = maxTextLength, minLength = 0 } = rule.rules
  const limit = Math.min(maxLength, rule.isUnique ? maxKeyLength : maxLength)
  const length = Array.from(value).length
  if (length < minLength) return refusal(`must have at least ${minLength} characters.`)
  return length > limit ? refusal(`must have at most ${limit} characters.`) : Result.succeed(value)
}

const number = (rule: Rule, value: unknown): Checked => {
  if (typeof value !== "number" || !Number.isFinite(value)) return refusal("must be a number.")
  if (rule.rules.isInteger === true && !Number.isInteger(value)) return refusal("must be a whole number.")
  const out = within(rule, value)
  return out === undefined ? Result.succeed(value) : refusal(out)
}

const money = (rule: Rule, value: unknown): Checked => {
  const made = Schema.decodeUnknownResult(Money)(value)
  if (Result.isFailure(made)) return refusal("must be an object of amount, in minor units from 0, and currency.")
  const out = within(rule, made.success.amount)
  return out === undefined ? Result.succeed(made.success) : refusal(out)
}

const checks: Readonly<Record<FieldKind, (rule: Rule, value: unknown) => Checked>> = {
  text,
  number,
  money,
  boolean: (_, value) => typeof value === "boolean" ? Result.succeed(value) : refusal("must be true or false."),
  date: (_, value) =>
    typeof value === "string" && day.test(value) && isDay(value)
      ? Result.succeed(value)
      : refusal("must be a day, such as 2026-11-25."),
  enum: ({ rules: { values = [] } }, value) =>
    typeof value === "string" && values.includes(value)
      ? Result.succeed(value)
      : refusal(`must be one of ${values.join(", ")}.`),
  reference: (_, value) => decoded(Uuid, value, "must be the id of a catalog entity."),
  json: (_, value) => decoded(AnyJson, value, "must be JSON of valid Unicode without NUL, at most 100 levels deep.")
}

export const checkValue = (rule: Rule, value: unknown): Checked => checks[rule.kind](rule, value)

const issue = (path: string, message: string, code = "invalid"): Issue => ({ path, message, code })

const uniqueKinds: ReadonlySet<FieldKind> = new Set(["text", "number", "date", "reference"])
const filterableKinds: ReadonlySet<FieldKind> = new Set(["text", "number", "boolean", "date", "enum"])

type Shape = Pick<
  FieldDefinition,
  "kind" | "rules" | "isUnique" | "isFilterable" | "isPublic" | "defaultValue"
>

export const definitionIssues = (shape: Shape): ReadonlyArray<Issue> => {
  const { defaultValue, isFilterable, isPublic, isUnique, kind, rules } = shape
  const issues: Array<Issue> = []
  if (kind === "enum" && rules.values === undefined) {
    issues.push(issue("rules.values", "is required for the kind enum.", "required"))
  }
  if (rules.values !== undefined && new Set(rules.values).size < rules.values.length) {
    issues.push(issue("rules.values", "must not have a value twice.", "duplicate"))
  }
  const [low, high] = kind === "text" ? [rules.minLength, rules.maxLength] : [rules.minimum, rules.maximum]
  if (low !== undefined && high !== undefined && low > high) {
    issues.push(issue("rules", "must not have a minimum above its maximum."))
  }
  if (isUnique && !uniqueKinds.has(kind)) {
    issues.push(issue("isUnique", "must be false, except for the kinds text, number, date and reference."))
  }
  if (isFilterable && !filterableKinds.has(kind)) {
    issues.push(issue("isFilterable", "must be false, except for the kinds text, number, boolean, date and enum."))
  }
  if (isFilterable && !isPublic) issues.push(issue("isFilterable", "must be false for a field that is not public."))
  if (defaultValue === null) return issues
  if (isUnique || kind === "reference") {
    issues.push(issue("defaultValue", "must be null for a unique field or a reference."))
  }
  const checked = checkValue(shape, defaultValue)
  return Result.isFailure(checked) ? [...issues, issue("defaultValue", checked.failure)] : issues
}

export type FieldsByName = Readonly<Record<string, unknown>>

const valueOf = (fields: FieldsByName, name: string): unknown => Object.hasOwn(fields, name) ? fields[name] : null

export interface Assigned {
  readonly after: FieldsByName
  readonly issues: ReadonlyArray<Issue>
}

/**
 * Merges the sent values: null clears a value, a new entity gets defaults, and a required field must end up with a
 * value.
 */
export const assigned = (
  definitions: ReadonlyArray<FieldDefinition>,
  before: FieldsByName | undefined,
  sent: FieldsByName
): Assigned => {
  const after: Record<string, unknown> = {}
  const issues: Array<Issue> = []
  const names = new Set(definitions.map(({ name }) => name))
  for (const name of Object.keys(sent)) {
    if (!names.has(name)) issues.push(issue(`customFields.${name}`, "is not a custom field of this type.", "not_found"))
  }
  for (const definition of definitions) {
    const { defaultValue, isRequired, name } = definition
    const path = `customFields.${name}`
    const isSent = Object.hasOwn(sent, name)
    const kept = before === undefined ? defaultValue : valueOf(before, name)
    const value = isSent ? valueOf(sent, name) ?? null : kept
    if (value === null) {
      if (isRequired) issues.push(issue(path, "is required.", "required"))
      continue
    }
    const checked = isSent ? checkValue(definition, value) : Result.succeed(value)
    if (Result.isFailure(checked)) issues.push(issue(path, checked.failure))
    else after[name] = checked.success
  }
  return { after, issues }
}
