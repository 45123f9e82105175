/** What stands in place of a secret. */
const gone = "<redacted>"

/** Names of fields and headers whose values are nobody's business. */
const secretName = String
  .raw`[\w-]*(?:authorization|cookie|secret|passw(?:or)?d|token|api[_-]?key|signature|credential)[\w-]*`

const isSecret = new RegExp(`^${secretName}$`, "i")

/** Each pattern keeps its first group, which says what was there. */
const patterns: ReadonlyArray<RegExp> = [
  /\b((?:bearer|basic) +)[\w.~+/=-]+/gi,
  // user:password@ of an address
  /(\w+:\/\/[^\s:/@]*:)[^\s@/]+(?=@)/g,
  // name: value, name=value, "name":"value"
  new RegExp(String.raw`(${secretName}\\?["']?\s*[:=]\s*\\?["']?)(?!(?:bearer|basic) )[^\s"'\\,;&})\]]+`, "gi"),
  // Keys of payment providers, and the secrets that their payments are confirmed with.
  /\b((?:sk|rk|pk)_(?:live|test)_|whsec_|pi_\w+_secret_)\w+/g,
  // What PostgreSQL repeats of a statement's parameters and rows.
  /(parameter \$\d+ = )'(?:[^']|'')*'/gi,
  /(invalid input (?:syntax for type|value for enum) [\w ]+: ?\\?")[^"\\]*/gi,
  /(Key \([^)]*\)=\()[^)]*/g,
  /(Failing row contains \()[^)]*/g
]

/** A text without the secrets that can be told by their looks, or that are known (`known`) to be some. */
export const redactText = (text: string, known: ReadonlyArray<string> = []): string => {
  let clean = text
  for (const secret of known) clean = clean.replaceAll(secret, gone)
  for (const pattern of patterns) clean = clean.replace(pattern, `$1${gone}`)
  return clean
}

/** The same for every text of a JSON value, and for everything under a name that promises a secret. */
export const redactValue = (value: unknown, known: ReadonlyArray<string> = []): unknown => {
  if (typeof value === "string") return redactText(value, known)
  if (Array.isArray(value)) return value.map((one) => redactValue(one, known))
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inside]) => [name, isSecret.test(name) ? gone : redactValue(inside, known)])
  )
}
