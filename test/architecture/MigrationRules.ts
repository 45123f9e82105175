/** What an older version that runs beside this one would trip over, by the statement that does it. */
const breaking: ReadonlyArray<readonly [what: string, pattern: RegExp]> = [
  ["drops something", /\bdrop\s+(table|column|view|materialized view|function|type|schema|domain)\b/],
  ["renames something", /\brename\b/],
  ["changes the type of a column", /\balter\s+(column\s+)?\S+\s+(set\s+data\s+)?type\b/],
  ["demands a value", /\bset\s+not\s+null\b/],
  ["removes a default", /\bdrop\s+default\b/],
  ["removes rows", /\btruncate\b/]
]

/** A new column that rows of an older version would come without. */
const demandsValue = (text: string): boolean =>
  text.startsWith("alter table") &&
  text.split(/\badd\s+column\b/).slice(1).some((column) => /\bnot\s+null\b/.test(column) && !/\bdefault\b/.test(column))

const numbers = (version: string): ReadonlyArray<number> => version.split(".").map((part) => Number.parseInt(part, 10))

const isEarlier = (version: string, than: string): boolean => {
  const [own, other] = [numbers(version), numbers(than)]
  const at = own.findIndex((part, index) => part !== other[index])
  return at !== -1 && (own[at] ?? 0) < (other[at] ?? 0)
}

/**
 * What is wrong with a statement of a migration in this version: the version before and the one after run on the same
 * tables during an upgrade. Undefined for a statement that both can live with.
 */
export const flawOf = (statement: string, version: string): string | undefined => {
  const lastUsedBy = /^\/\* last used by (\S+) \*\//.exec(statement)?.[1]
  if (lastUsedBy !== undefined) {
    return isEarlier(lastUsedBy, version) ? undefined : `contracts what version ${lastUsedBy} still uses`
  }
  const text = statement.replaceAll(/\s+/g, " ").trim().toLowerCase()
  return breaking.find(([, pattern]) => pattern.test(text))?.[0] ??
    (demandsValue(text) ? "adds a column that must have a value" : undefined)
}
