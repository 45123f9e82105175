import type { SchemaAST, SchemaIssue } from "effect"

/** A message without its subject, `must be a number.`, or a whole sentence; and the code of the issue. */
export interface Flaw {
  readonly message: string
  readonly code: string
}

type Annotations = Readonly<Record<string, unknown>> | undefined

const annotated = (annotations: Annotations, key: string): string | undefined => {
  const text = annotations?.[key]
  return typeof text === "string" ? text : undefined
}

/** `a string, a number or null`. */
export const either = (all: ReadonlyArray<string>): string => {
  const [last, ...others] = all.toReversed()
  return others.length === 0 ? last ?? "" : `${others.toReversed().join(", ")} or ${last}`
}

const decoded = /^.* that will be decoded as /

/** What a schema takes, in words of clients: its identifiers are internal names. */
const wantedBy = (ast: SchemaAST.AST): ReadonlyArray<string> => {
  const expected = annotated(ast.annotations, "expected")
  if (expected !== undefined) return [expected.replace(decoded, "")]
  switch (ast._tag) {
    case "Objects":
      return ["an object"]
    case "Arrays":
      return ["an array"]
    case "String":
      return ["a string"]
    case "Number":
      return ["a number"]
    case "Boolean":
      return ["true or false"]
    case "Null":
      return ["null"]
    case "Literal":
      return [typeof ast.literal === "bigint" ? String(ast.literal) : JSON.stringify(ast.literal)]
    case "Union":
      return [...new Set(ast.types.flatMap(wantedBy))]
    case "Suspend":
      return wantedBy(ast.thunk())
    // An absent value, or a type that no JSON has.
    default:
      return []
  }
}

const isLiteral = (ast: SchemaAST.AST): boolean =>
  ast._tag === "Literal" || ast._tag === "Null" || ast._tag === "Undefined" ||
  ast._tag === "Union" && ast.types.every(isLiteral)

/** A value of another type, or none of the words. */
export const typeFlaw = ({ ast }: { readonly ast: SchemaAST.AST }): Flaw => {
  const wanted = wantedBy(ast)
  return {
    message: annotated(ast.annotations, "message") ??
      (wanted.length === 0 ? "is not valid." : `must be ${either(wanted)}.`),
    code: isLiteral(ast) ? "unknown_value" : "type"
  }
}

type Bounds = Readonly<Record<"minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum", unknown>>

const isNumber = (value: unknown): value is number => typeof value === "number"

const boundsText = ({ exclusiveMaximum, exclusiveMinimum, maximum, minimum }: Partial<Bounds>): string => {
  if (isNumber(minimum) && isNumber(maximum)) {
    const [from, to] = [
      exclusiveMinimum === true ? `above ${minimum}` : `at least ${minimum}`,
      exclusiveMaximum === true ? `below ${maximum}` : `at most ${maximum}`
    ]
    return exclusiveMinimum === true || exclusiveMaximum === true
      ? `must be ${from} and ${to}.`
      : `must be between ${minimum} and ${maximum}.`
  }
  if (isNumber(exclusiveMinimum)) return `must be above ${exclusiveMinimum}.`
  if (isNumber(exclusiveMaximum)) return `must be below ${exclusiveMaximum}.`
  return isNumber(minimum) ? `must be at least ${minimum}.` : `must be at most ${String(maximum)}.`
}

const boundsFlaw = (bounds: Partial<Bounds>, input: unknown): Flaw => {
  const least = bounds.minimum ?? bounds.exclusiveMinimum
  const isSmall = isNumber(least) && (!isNumber(input) || input <= least && input !== bounds.minimum)
  return { message: boundsText(bounds), code: isSmall ? "too_small" : "too_large" }
}

interface Sizes {
  readonly least?: unknown
  readonly most?: unknown
}

/** `unit` has its plural; a value that is not known has a length. */
const sizeText = (least: number, most: number | undefined, unit: readonly [one: string, many: string] | undefined) => {
  const amount = most === undefined
    ? `at least ${least}`
    : least === most
    ? `exactly ${least}`
    : least === 0
    ? `at most ${most}`
    : `${least} to ${most}`
  if (unit === undefined) return `must have a length of ${amount}.`
  return least === 1 && most === undefined
    ? "must not be empty."
    : `must have ${amount} ${unit[(most ?? least) === 1 ? 0 : 1]}.`
}

const sizeOf = (input: unknown): number | undefined =>
  typeof input === "string" || Array.isArray(input)
    ? input.length
    : typeof input === "object" && input !== null
    ? Object.keys(input).length
    : undefined

const unitOf = (input: unknown): readonly [string, string] | undefined =>
  typeof input === "string"
    ? ["character", "characters"]
    : Array.isArray(input)
    ? ["entry", "entries"]
    : typeof input === "object" && input !== null
    ? ["key", "keys"]
    : undefined

const sizeFlaw = ({ least, most }: Sizes, input: unknown): Flaw => {
  const [minimum, maximum] = [isNumber(least) ? least : 0, isNumber(most) ? most : undefined]
  const size = sizeOf(input)
  const isShort = size === undefined ? maximum === undefined : size < minimum
  const isText = typeof input === "string" || input === undefined
  return {
    message: sizeText(minimum, maximum, unitOf(input)),
    code: isText ? isShort ? "too_short" : "too_long" : isShort ? "too_few" : "too_many"
  }
}

type Payload = Readonly<Record<string, unknown>>

/** Flaws of checks of the library, by their name and what they were given. */
const known: Readonly<Record<string, (given: Payload, input: unknown) => Flaw>> = {
  isInt: () => ({ message: "must be a whole number.", code: "type" }),
  isFinite: () => ({ message: "must be a number.", code: "type" }),
  isUnique: () => ({ message: "must not have an entry twice.", code: "duplicate" }),
  isBetween: boundsFlaw,
  isGreaterThan: boundsFlaw,
  isGreaterThanOrEqualTo: boundsFlaw,
  isLessThan: boundsFlaw,
  isLessThanOrEqualTo: boundsFlaw,
  isMinLength: ({ minLength }, input) => sizeFlaw({ least: minLength }, input),
  isMaxLength: ({ maxLength }, input) => sizeFlaw({ most: maxLength }, input),
  isBetweenLength: ({ maximum, minimum }, input) => sizeFlaw({ least: minimum, most: maximum }, input),
  isMinProperties: ({ minProperties }, input) => sizeFlaw({ least: minProperties }, input),
  isMaxProperties: ({ maxProperties }, input) => sizeFlaw({ most: maxProperties }, input),
  isBetweenProperties: ({ maximum, minimum }, input) => sizeFlaw({ least: minimum, most: maximum }, input)
}

const library = /^effect\/schema\//
const pattern = /^a string matching the RegExp /

const payloadOf = (annotations: Annotations): { readonly name: string; readonly given: Payload } => {
  const { id, payload }: Payload = Object(annotations?.["representation"])
  return { name: String(id).replace(library, ""), given: Object(payload) }
}

/** A check that did not pass: by its message, by what the library knows of it, or by what it expects. */
export const checkFlaw = ({ filter, issue }: SchemaIssue.Filter, input: unknown): Flaw => {
  const { annotations } = filter
  const said = issue._tag === "InvalidValue" ? issue.annotations : undefined
  const message = annotated(annotations, "message") ?? annotated(said, "message")
  const code = annotated(said, "code") ?? annotated(annotations, "code")
  if (message !== undefined) return { message, code: code ?? "invalid" }
  const { given, name } = payloadOf(annotations)
  const found = known[name]?.(given, input)
  if (found !== undefined) return found
  const expected = annotated(said, "expected") ?? annotated(annotations, "expected")
  return expected === undefined || pattern.test(expected)
    ? { message: "is not valid.", code: code ?? "invalid" }
    : { message: `must be ${expected}.`, code: code ?? "format" }
}

/** A leaf without a check. */
export const leafFlaw = (issue: SchemaIssue.Leaf): Flaw => {
  switch (issue._tag) {
    case "MissingKey":
      return { message: annotated(issue.annotations, "messageMissingKey") ?? "is required.", code: "required" }
    case "InvalidType":
      return typeFlaw(issue)
    case "InvalidValue": {
      const { code, expected, message } = issue.annotations ?? {}
      return {
        message: message ?? (expected === undefined ? "is not valid." : `must be ${expected}.`),
        code: typeof code === "string" ? code : expected === undefined ? "invalid" : "format"
      }
    }
    default:
      return { message: "is not valid.", code: "invalid" }
  }
}
