import { Result, Schema, type SchemaAST, SchemaIssue } from "effect"
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

const typeText = ({ ast }: SchemaIssue.InvalidType | SchemaIssue.AnyOf): string =>
  annotated(ast.annotations, "message") ?? `Expected ${wanted(ast)}`

/** Words the refusal of an unknown key, by its path and the object that it is in. */
type KeyIssue = (path: ReadonlyArray<string>, ast: SchemaAST.AST) => Issue

const unknownKeyIssue: KeyIssue = (path, ast) => {
  const known = ast._tag === "Objects" ? ast.propertySignatures.map(({ name }) => String(name)) : []
  const meant = nearestWord(path.at(-1) ?? "", known)
  const name = path.join(".")
  const hint = meant === undefined ? "Leave it out." : `Did you mean "${meant}"?`
  return { path: name, message: `${name} is not a known field. ${hint}`, code: "unknown_key" }
}

const collect = (
  issue: SchemaIssue.Issue,
  path: ReadonlyArray<PropertyKey>,
  found: Array<Issue>,
  unknownKey: KeyIssue | undefined,
  instead?: string
): void => {
  if (found.length >= maxIssues) return
  const add = (message: string) => void found.push({ path: path.map(String).join("."), message, code: "invalid" })
  switch (issue._tag) {
    case "Filter":
      return collect(issue.issue, path, found, unknownKey, instead ?? filterText(issue))
    case "Encoding":
      return collect(issue.issue, path, found, unknownKey, instead)
    case "Pointer":
      return collect(issue.issue, [...path, ...issue.path], found, unknownKey, instead)
    case "Composite":
      return issue.issues.forEach((inner) => collect(inner, path, found, unknownKey, instead))
    case "AnyOf":
      if (issue.issues.length === 0) return add(instead ?? typeText(issue))
      return issue.issues.forEach((inner) => collect(inner, path, found, unknownKey, instead))
    case "InvalidType":
      return add(instead ?? typeText(issue))
    case "UnexpectedKey":
      if (unknownKey !== undefined) return void found.push(unknownKey(path.map(String), issue.ast))
      return add(instead ?? SchemaIssue.defaultLeafHook(issue))
    default:
      return add(instead ?? SchemaIssue.defaultLeafHook(issue))
  }
}

/** Issues field by field (contract §0.1). */
export const issuesOf = ({ issue }: Pick<Schema.SchemaError, "issue">): ReadonlyArray<Issue> => {
  const found: Array<Issue> = []
  collect(issue, [], found, undefined)
  return found
}

/** The same for the body of a request, where unknown fields have a code and the name that was probably meant. */
export const bodyIssuesOf = ({ issue }: Pick<Schema.SchemaError, "issue">): ReadonlyArray<Issue> => {
  const found: Array<Issue> = []
  collect(issue, [], found, unknownKeyIssue)
  return found
}

export const strictly = <T, E>(schema: Schema.Codec<T, E>) => {
  const decode = Schema.decodeUnknownResult(schema, { errors: "all", onExcessProperty: "error" })
  return (value: unknown): Result.Result<T, ReadonlyArray<Issue>> => Result.mapError(decode(value), issuesOf)
}
