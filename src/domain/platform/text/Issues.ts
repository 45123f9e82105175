import { Effect, Schema, type SchemaAST, SchemaIssue } from "effect"
import type { Issue } from "../errors/ApiErrors.ts"
import { nearestWord } from "./NearestWord.ts"

const maxIssues = 50

/** In words of clients: schema identifiers are internal names. */
const wanted = (ast: SchemaAST.AST): string => {
  const { expected } = ast.annotations ?? {}
  if (typeof expected === "string") return expected
  switch (ast._tag) {
    case "Objects":
      return "an object"
    case "Arrays":
      return "an array"
    case "String":
      return "a string"
    case "Number":
      return "a number"
    case "Boolean":
      return "a boolean"
    case "Null":
      return "null"
    case "Undefined":
      return "no value"
    case "Literal":
      return typeof ast.literal === "bigint" ? String(ast.literal) : JSON.stringify(ast.literal)
    case "Union":
      return [...new Set(ast.types.map(wanted))].join(" | ")
    case "Suspend":
      return wanted(ast.thunk())
    default:
      return "a valid value"
  }
}

const annotated = (annotations: Readonly<Record<string, unknown>> | undefined, key: string): string | undefined => {
  const text = annotations?.[key]
  return typeof text === "string" ? text : undefined
}

const checkText = (check: SchemaAST.Check<unknown>): string =>
  annotated(check.annotations, "expected") ??
    (check._tag === "FilterGroup" ? check.checks.map(checkText).join(" & ") : "a valid value")

const filterText = (issue: SchemaIssue.Filter): string | undefined => {
  const own = SchemaIssue.defaultCheckHook(issue)
  if (own !== undefined || issue.issue._tag !== "InvalidValue") return own
  return `Expected ${annotated(issue.issue.annotations, "expected") ?? checkText(issue.filter)}`
}

/** The text of a check that says `predicate` begins with the name of its field. */
const sentence = (issue: SchemaIssue.Filter, path: ReadonlyArray<PropertyKey>): string | undefined =>
  issue.filter.annotations?.["predicate"] === true
    ? `${path.length === 0 ? "The value" : path.map(String).join(".")} ${filterText(issue) ?? "is not valid."}`
    : filterText(issue)

const typeText = ({ ast }: SchemaIssue.InvalidType | SchemaIssue.AnyOf): string =>
  annotated(ast.annotations, "message") ?? `Expected ${wanted(ast)}`

/** Fields are of a body, parameters of a query, names of a comma list in a parameter. */
export type UnknownKind = "field" | "parameter" | "name"

/** Refuses a key that is none of the known ones, with the one that was probably meant. */
export const unknownKey = (path: ReadonlyArray<string>, known: ReadonlyArray<string>, kind: UnknownKind): Issue => {
  const meant = nearestWord(path.at(-1) ?? "", known)
  const name = path.join(".")
  const hint = meant === undefined ? "Leave it out." : `Did you mean "${meant}"?`
  return { path: name, message: `${name} is not a known ${kind}. ${hint}`, code: "unknown_key" }
}

const collect = (
  issue: SchemaIssue.Issue,
  path: ReadonlyArray<PropertyKey>,
  found: Array<Issue>,
  instead?: string
): void => {
  if (found.length >= maxIssues) return
  const add = (message: string) => void found.push({ path: path.map(String).join("."), message, code: "invalid" })
  switch (issue._tag) {
    case "Filter":
      return collect(issue.issue, path, found, instead ?? sentence(issue, path))
    case "Encoding":
      return collect(issue.issue, path, found, instead)
    case "Pointer":
      return collect(issue.issue, [...path, ...issue.path], found, instead)
    case "Composite":
      return issue.issues.forEach((inner) => collect(inner, path, found, instead))
    case "AnyOf":
      if (issue.issues.length === 0) return add(instead ?? typeText(issue))
      return issue.issues.forEach((inner) => collect(inner, path, found, instead))
    case "InvalidType":
      return add(instead ?? typeText(issue))
    default:
      return add(instead ?? SchemaIssue.defaultLeafHook(issue))
  }
}

/** Issues field by field (contract §0.1). */
export const issuesOf = ({ issue }: Pick<Schema.SchemaError, "issue">): ReadonlyArray<Issue> => {
  const found: Array<Issue> = []
  collect(issue, [], found)
  return found
}

export const strictly = <T, E>(schema: Schema.Codec<T, E>) => {
  const decode = Schema.decodeUnknownEffect(schema, { errors: "all", onExcessProperty: "error" })
  return (value: unknown): Effect.Effect<T, ReadonlyArray<Issue>> => Effect.mapError(decode(value), issuesOf)
}
