import { Effect, Schema, type SchemaIssue } from "effect"
import type { Issue } from "../errors/ApiErrors.ts"
import { checkFlaw, either, type Flaw, leafFlaw, typeFlaw } from "./CheckTexts.ts"
import { nearestWord } from "./NearestWord.ts"

const maxIssues = 50

/** Fields are of a body, parameters of a query, names of a comma list in a parameter. */
export type UnknownKind = "field" | "parameter" | "name"

/** Refuses a key that is none of the known ones, with the one that was probably meant. */
export const unknownKey = (path: ReadonlyArray<string>, known: ReadonlyArray<string>, kind: UnknownKind): Issue => {
  const meant = nearestWord(path.at(-1) ?? "", known)
  const name = path.join(".")
  const hint = meant === undefined ? "Leave it out." : `Did you mean "${meant}"?`
  return { path: name, message: `${name} is not a known ${kind}. ${hint}`, code: "unknown_key" }
}

type Path = ReadonlyArray<PropertyKey>

const pathText = (path: Path): string => path.map(String).join(".")

const unexpected = ({ ast }: SchemaIssue.UnexpectedKey, path: Path): Issue =>
  unknownKey(
    path.map(String),
    ast._tag === "Objects" ? ast.propertySignatures.map(({ name }) => String(name)) : [],
    "field"
  )

/** The issues of the member that fits best; a value that none fits has one issue. */
const closest = (members: ReadonlyArray<ReadonlyArray<Issue>>, path: string): ReadonlyArray<Issue> => {
  const [best = []] = members.toSorted((one, other) => one.length - other.length)
  const wanted = members.map(([issue]) =>
    issue?.path === path ? /^must be (.*)\.$/.exec(issue.message)?.[1] : undefined
  )
  if (members.length < 2 || best[0] === undefined || wanted.includes(undefined)) return best
  return [{ ...best[0], message: `must be ${either([...new Set(wanted.flatMap((text) => text ?? []))])}.` }]
}

const collect = (issue: SchemaIssue.Issue, path: Path, instead?: Flaw): ReadonlyArray<Issue> => {
  const at = ({ code, message }: Flaw): ReadonlyArray<Issue> => [{ path: pathText(path), message, code }]
  switch (issue._tag) {
    case "Filter": {
      const flaw = issue.issue._tag === "InvalidValue" ? checkFlaw(issue, issue.input ?? issue.issue.input) : undefined
      return collect(issue.issue, path, instead ?? flaw)
    }
    case "Encoding":
      return collect(issue.issue, path, instead)
    case "Pointer":
      return collect(issue.issue, [...path, ...issue.path], instead)
    case "Composite":
      return issue.issues.flatMap((inner) => collect(inner, path, instead))
    case "AnyOf":
      return issue.issues.length === 0
        ? at(instead ?? typeFlaw(issue))
        : closest(issue.issues.map((inner) => collect(inner, path, instead)), pathText(path))
    case "UnexpectedKey":
      return [unexpected(issue, path)]
    default:
      return at(instead ?? leafFlaw(issue))
  }
}

/** Issues field by field (contract §0.1); a message without its subject begins with `must`, `cannot` or `is`. */
export const issuesOf = ({ issue }: Pick<Schema.SchemaError, "issue">): ReadonlyArray<Issue> =>
  collect(issue, [])
    .slice(0, 2 * maxIssues)
    // A value of another type breaks other checks, too.
    .filter(({ path }, index, all) => !all.slice(0, index).some((one) => one.code === "type" && one.path === path))
    .slice(0, maxIssues)

/** Options of decoders that report all issues with the values that they are about. */
export const everyIssue = { errors: "all", reportInput: true } as const

export const strictly = <T, E>(schema: Schema.Codec<T, E>) => {
  const decode = Schema.decodeUnknownEffect(schema, { ...everyIssue, onExcessProperty: "error" })
  return (value: unknown): Effect.Effect<T, ReadonlyArray<Issue>> => Effect.mapError(decode(value), issuesOf)
}
