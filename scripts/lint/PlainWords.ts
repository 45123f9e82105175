import { projectPath, type Rule } from "./Rule.ts"

/** Words that stood for something with a name in the field, and that name (docs/glossary.md). */
const replaced: Readonly<Record<string, string>> = {
  room: "layer, module or directory",
  furnish: "provide",
  desk: "entity (stock), admin orders (staff)",
  told: "recorded or emitted",
  untold: "not recorded",
  journal: "change log",
  journaled: "recorded",
  keyed: "idempotent",
  sight: "services",
  kernel: "service registry",
  placement: "created order",
  placing: "creating the order",
  unplace: "undo create order",
  unwanted: "orphaned",
  dressed: "(nothing)",
  shade: "attribute group",
  ballast: "padding",
  anew: "again, or uncached",
  folding: "normalization",
  filed: "CSV or imported",
  reception: "multipart upload",
  sealed: "encrypted",
  remembered: "cached or stored",
  wakeup: "notification",
  patience: "timeout",
  vitals: "health checks",
  exposition: "Prometheus exporter",
  sweep: "scheduled job",
  follower: "projection",
  stray: "unhandled",
  trouble: "error",
  neighbour: "other tenant",
  stranger: "anonymous visitor",
  twin: "tenant pair",
  witness: "recorder",
  dice: "random",
  reckoning: "pricing properties",
  whoever: "who",
  whatever: "what or any",
  nobody: "no one, or name who",
  he: "they",
  his: "their",
  him: "them"
}

const phrases: Readonly<Record<string, string>> = { "its own": "a separate, or leave it out", "is told": "receives" }

/** Names that contain such a word: an account of the operating system, a route group and a job of the specification. */
const permitted = /`nobody`|"nobody"|orderDesk|channel\/reconcile-sweep/g

const capitalized = (word: string) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`
const listed = Object.keys(replaced)
const pattern = new RegExp(
  `(?<![A-Za-z])(?:${[...listed, ...listed.map(capitalized), ...Object.keys(phrases)].join("|")})s?(?![a-z])` +
    `|(?<=[a-z0-9])(?:${listed.map(capitalized).join("|")})s?(?![a-z])`,
  "g"
)

/** Where a text uses a replaced word: in names as well (`JournalRepo`, `isTold`, `journal_entries`). */
export const oldWordsIn = (text: string): ReadonlyArray<{ readonly word: string; readonly index: number }> =>
  Array.from(
    text.replace(permitted, ({ length }) => " ".repeat(length)).matchAll(pattern),
    ({ 0: word, index }) => ({ word, index })
  )

const advice = (word: string): string => {
  const found = word.toLowerCase()
  const replacement = replaced[found] ?? phrases[found] ?? replaced[found.replace(/s$/, "")] ?? ""
  return `"${word}" is not a word of this code base: ${replacement} (docs/glossary.md).`
}

/** `stoa/plain-words`: names, comments and messages use the field's words, so that a newcomer can guess. */
export const PlainWords: Rule = {
  meta: { type: "suggestion", docs: { description: "Standard terms instead of private ones" } },
  create(context) {
    const path = projectPath(context)
    if (path === "scripts/lint/PlainWords.ts") return {}
    return {
      Program(node) {
        for (const { word } of oldWordsIn(path)) context.report({ node, message: advice(word) })
        const { text } = context.sourceCode
        for (const { index, word } of oldWordsIn(text)) {
          const start = context.sourceCode.getLocFromIndex(index)
          const end = context.sourceCode.getLocFromIndex(index + word.length)
          context.report({ loc: { start, end }, message: advice(word) })
        }
      }
    }
  }
}
