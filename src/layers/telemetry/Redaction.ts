const gone = "<redacted>"

const secretWord = "(?:authorization|cookie|secret|passw(?:or)?d|token|api[_-]?key|signature|credential)"

const isSecret = new RegExp(secretWord, "i")

/** A whole name, from its beginning only: else each letter of a long one is a start. */
const secretName = String.raw`(?<![\w-])(?=[\w-]*${secretWord})[\w-]+`

/** Each keeps its first group. Clients choose the text, so the time is linear in it. */
const patterns: ReadonlyArray<RegExp> = [
  /\b((?:bearer|basic) +)[\w.~+/=-]+/gi,
  // user:password@ of an address
  /((?<!\w)\w+:\/\/[^\s:/@]*:)[^\s@/]+(?=@)/g,
  // name: value, name=value, "name":"value"
  new RegExp(String.raw`(${secretName}\\?["']?\s*[:=]\s*\\?["']?)(?!(?:bearer|basic) )[^\s"'\\,;&})\]]+`, "gi"),
  /\b((?:sk|rk|pk)_(?:live|test)_|whsec_|pi_\w+_secret_)[\w+/=-]+/g,
  // PostgreSQL repeats parameters and rows of statements.
  /(parameter \$\d+ = )'(?:[^']|'')*'/gi,
  /(invalid input (?:syntax for type|value for enum) [\w ]{1,100}: ?\\?")[^"\\]*/gi,
  /(Key \([^)]{0,500}\)=\()[^)]*/g,
  /(Failing row contains \()[^)]*/g
]

export const redactText = (text: string, known: ReadonlyArray<string> = []): string => {
  let clean = text
  for (const secret of known) clean = clean.replaceAll(secret, gone)
  for (const pattern of patterns) clean = clean.replace(pattern, `$1${gone}`)
  return clean
}

const deepest = 12

const written = (value: unknown): string | undefined => {
  if (typeof value === "string" || typeof value === "bigint" || value instanceof Error) return String(value)
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "Invalid Date" : value.toISOString()
  return undefined
}

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
