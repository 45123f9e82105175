/** What stands in place of a secret. */
const gone = "<redacted>"

/** Parts of names of fields and headers with secret values. */
const secretWord = "(?:authorization|cookie|secret|passw(?:or)?d|token|api[_-]?key|signature|credential)"

const isSecret = new RegExp(secretWord, "i")

/** A whole name: looked for from its beginning alone, or a long one would be gone through from each of its letters. */
const secretName = String.raw`(?<![\w-])(?=[\w-]*${secretWord})[\w-]+`

/**
 * Each pattern keeps its first group, which says what was there. Clients choose what they are matched against (a path,
 * a header), so each takes a time that grows with the text and not with its square.
 */
const patterns: ReadonlyArray<RegExp> = [
  /\b((?:bearer|basic) +)[\w.~+/=-]+/gi,
  // user:password@ of an address
  /((?<!\w)\w+:\/\/[^\s:/@]*:)[^\s@/]+(?=@)/g,
  // name: value, name=value, "name":"value"
  new RegExp(String.raw`(${secretName}\\?["']?\s*[:=]\s*\\?["']?)(?!(?:bearer|basic) )[^\s"'\\,;&})\]]+`, "gi"),
  // Keys of payment providers, and the secrets that their payments are confirmed with.
  /\b((?:sk|rk|pk)_(?:live|test)_|whsec_|pi_\w+_secret_)[\w+/=-]+/g,
  // What PostgreSQL repeats of a statement's parameters and rows.
  /(parameter \$\d+ = )'(?:[^']|'')*'/gi,
  /(invalid input (?:syntax for type|value for enum) [\w ]{1,100}: ?\\?")[^"\\]*/gi,
  /(Key \([^)]{0,500}\)=\()[^)]*/g,
  /(Failing row contains \()[^)]*/g
]

/** A text without the secrets that can be recognized, or that are known (`known`) to be some. */
export const redactText = (text: string, known: ReadonlyArray<string> = []): string => {
  let clean = text
  for (const secret of known) clean = clean.replaceAll(secret, gone)
  for (const pattern of patterns) clean = clean.replace(pattern, `$1${gone}`)
  return clean
}

/** Deeper values are not readable in a line, and what refers to itself has no end. */
const deepest = 12

/** What JSON has no form for, in one that it has; undefined for what it can write. */
const written = (value: unknown): string | undefined => {
  if (typeof value === "string" || typeof value === "bigint" || value instanceof Error) return String(value)
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "Invalid Date" : value.toISOString()
  return undefined
}

/**
 * The same for every text of a value, and for everything under a name that promises a secret. What comes out can be
 * written as JSON in any case.
 */
export const redactValue = (value: unknown, known: ReadonlyArray<string> = [], depth = 0): unknown => {
  const text = written(value)
  if (text !== undefined) return redactText(text, known)
  if (typeof value !== "object" || value === null) return value
  if (depth === deepest) return "…"
  if (Array.isArray(value)) return value.map((one) => redactValue(one, known, depth + 1))
  return Object.fromEntries(
    Object.entries(value).map((
      [name, inside]
    ) => [name, isSecret.test(name) ? gone : redactValue(inside, known, depth + 1)])
  )
}
